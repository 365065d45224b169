// The pieces, drawn for this page: outlines in a square of 45 units, and lines on them.

interface Drawing { outline: string; lines: string }

const base = 'M11 37 h23 v4 h-23 z'

export const drawings: Record<string, Drawing> = {
  p: { outline: 'M22.5 8 a6 6 0 0 1 4.2 10.2 L31 34 H14 L18.3 18.2 A6 6 0 0 1 22.5 8 z M12 36 h21 v5 h-21 z', lines: 'M17 20 h11' },
  n: { outline: 'M13 36 C13 27 20 24 19.5 19 L12.5 23.5 L8.5 19.5 L15 11 L17.5 5 L21.5 9.5 C31 10.5 34 19 34 36 z ' + base, lines: 'M17.6 14 l.9 .2 M25 14 C29 19 29.5 27 29.5 34' },
  b: { outline: 'M22.5 4 a2.8 2.8 0 0 1 1.9 4.9 C31 13.5 32.5 22 27.5 28 L30.5 35 H14.5 L17.5 28 C12.5 22 14 13.5 20.6 8.9 A2.8 2.8 0 0 1 22.5 4 z ' + base, lines: 'M17.5 28 h10 M22.5 14 v8 M18.8 17.5 h7.4' },
  r: { outline: 'M11 7 h6 v4 h3 v-4 h5 v4 h3 v-4 h6 v9 l-4 3.5 v11 l3 5 H12 l3 -5 v-11 L11 16 z ' + base, lines: 'M15 19.5 h15 M15 30.5 h15' },
  q: { outline: 'M6.5 12.5 a2.3 2.3 0 1 1 3 2.2 L15 22 L17 10.6 a2.3 2.3 0 1 1 2.4 .1 L22.5 20 L25.6 10.7 a2.3 2.3 0 1 1 2.4 -.1 L30 22 L35.5 14.7 a2.3 2.3 0 1 1 1.9 .9 L32 35 H13 L7.6 15.6 A2.3 2.3 0 0 1 6.5 12.5 z ' + base, lines: 'M12.3 30 h20.4' },
  k: { outline: 'M21 3 h3 v3.5 h3.5 v3 H24 v4.2 C30 9.5 39 13.5 36 22.5 C34.6 26.7 31.5 29 31.5 35 H13.5 C13.5 29 10.4 26.7 9 22.5 C6 13.5 15 9.5 21 13.7 V9.5 H17.5 v-3 H21 z ' + base, lines: 'M22.5 15 v12 M14 30 C19 27.5 26 27.5 31 30' },
}

export const names: Record<string, string> = { p: 'pawn', n: 'knight', b: 'bishop', r: 'rook', q: 'queen', k: 'king' }
