// A board with both hands, drawn as SVG from a FEN. It can be turned, marks the last move,
// and says the position in words to those who do not see it.

import { h, set, svg } from './dom'
import { drawings, names } from './pieces'

export interface Position { squares: (string | null)[]; promoted: boolean[]; hands: Record<string, number>; white: boolean }

// read reads board, hands and side to move of a FEN. Squares count a1, b1 … h8; letters
// of White are upper case.
export function read(fen: string): Position {
  const [field, side] = fen.split(' ')
  const [board, hand = ''] = field.split(/[[\]]/)
  const squares: (string | null)[] = new Array(64).fill(null), promoted: boolean[] = new Array(64).fill(false)
  board.split('/').slice(0, 8).forEach((row, i) => {
    let file = 0
    for (const c of row) {
      const at = (7 - i) * 8 + file
      if (c >= '1' && c <= '8') file += Number(c)
      else if (c === '~') promoted[at - 1] = true
      else if (file++ < 8) squares[at] = c
    }
  })
  const hands: Record<string, number> = {}
  for (const c of hand) hands[c] = (hands[c] ?? 0) + 1
  return { squares, promoted, hands, white: side !== 'b' }
}

export const square = (at: number): string => 'abcdefgh'[at % 8] + (1 + Math.floor(at / 8))

// marked returns the squares of a move in UCI: from and to, or where a piece was dropped.
function marked(uci: string): string[] {
  return uci.includes('@') ? [uci.slice(2, 4)] : [uci.slice(0, 2), uci.slice(2, 4)]
}

export function piece(letter: string, x: number, y: number, size: number): SVGElement {
  const kind = letter.toLowerCase(), color = letter === kind ? 'black' : 'white'
  return svg('g', { class: 'piece ' + color, transform: `translate(${x} ${y}) scale(${size / 45})` },
    svg('path', { d: drawings[kind].outline }), svg('path', { class: 'lines', d: drawings[kind].lines }))
}

// words says a position: the pieces of each side, and what it has in hand.
export function words(p: Position): string {
  const side = (white: boolean): string => {
    const list: string[] = []
    for (const kind of 'kqrbnp') {
      const letter = white ? kind.toUpperCase() : kind
      const where = p.squares.map((s, i) => (s === letter ? square(i) : '')).filter(Boolean)
      if (where.length) list.push(`${names[kind]}${where.length > 1 ? 's' : ''} ${where.join(' ')}`)
    }
    const hand = [...'qrbnp'].map(k => [k, p.hands[white ? k.toUpperCase() : k] ?? 0] as const).filter(([, n]) => n > 0)
      .map(([k, n]) => `${n} ${names[k]}${n > 1 ? 's' : ''}`)
    return `${white ? 'White' : 'Black'}: ${list.join(', ')}; in hand ${hand.join(', ') || 'nothing'}.`
  }
  return `${side(true)} ${side(false)} ${p.white ? 'White' : 'Black'} to move.`
}

export const unit = 45

export class Board {
  readonly element = h('div', { class: 'board' })
  protected flipped = false
  protected fen = ''
  private uci = ''
  private check = false
  protected readonly drawing = svg('svg', { viewBox: `0 0 ${8 * unit} ${8 * unit}`, role: 'img' })
  private readonly above = h('div', { class: 'hand' })
  private readonly below = h('div', { class: 'hand' })

  // A bar stands left of the drawing, as high as that, however high the hands are.
  constructor(bar?: HTMLElement) {
    if (bar) this.element.classList.add('barred')
    this.element.append(this.above, bar ? h('div', { class: 'drawn' }, bar, this.drawing) : this.drawing, this.below)
  }

  show(fen: string, uci: string, check: boolean): void {
    this.fen = fen
    this.uci = uci
    this.check = check
    this.draw()
  }

  flip(): void {
    this.flipped = !this.flipped
    this.draw()
  }

  get turned(): boolean { return this.flipped }

  protected draw(): void {
    const p = read(this.fen), last = this.uci ? marked(this.uci) : []
    const parts: SVGElement[] = []
    for (let at = 0; at < 64; at++) {
      const file = at % 8, rank = Math.floor(at / 8)
      const x = unit * (this.flipped ? 7 - file : file), y = unit * (this.flipped ? rank : 7 - rank)
      const letter = p.squares[at], name = square(at)
      let kind = (file + rank) % 2 ? 'light' : 'dark'
      if (last.includes(name)) kind += ' last'
      if (this.check && letter === (p.white ? 'K' : 'k')) kind += ' check'
      parts.push(svg('rect', { class: kind, x, y, width: unit, height: unit }))
      if (file === (this.flipped ? 7 : 0)) parts.push(svg('text', { class: 'rank', x: x + 2, y: y + 9 }, 1 + rank))
      if (rank === (this.flipped ? 7 : 0)) parts.push(svg('text', { class: 'file', x: x + unit - 3, y: y + unit - 3, 'text-anchor': 'end' }, name[0]))
      if (letter && drawings[letter.toLowerCase()]) parts.push(piece(letter, x, y, unit))
      if (p.promoted[at]) parts.push(svg('circle', { class: 'promoted', cx: x + unit - 7, cy: y + 7, r: 3.5 }, svg('title', {}, 'promoted')))
    }
    this.drawing.replaceChildren(...parts)
    this.drawing.setAttribute('aria-label', words(p))
    this.hand(this.above, p, this.flipped)
    this.hand(this.below, p, !this.flipped)
  }

  protected hand(e: HTMLElement, p: Position, white: boolean): void {
    const held = [...'qrbnp'].map(k => (white ? k.toUpperCase() : k)).filter(k => p.hands[k])
    set(e, h('span', { class: 'side' + (p.white === white ? ' turn' : '') }, white ? 'White' : 'Black'),
      ...held.map(k => h('span', { class: 'held' },
        svg('svg', { viewBox: `0 0 ${unit} ${unit}`, 'aria-hidden': 'true' }, piece(k, 0, 0, unit)),
        h('span', {}, `×${p.hands[k]}`, h('span', { class: 'hidden' }, ` ${names[k.toLowerCase()]}`)))),
      held.length === 0 && h('span', { class: 'none' }, 'nothing in hand'))
  }
}
