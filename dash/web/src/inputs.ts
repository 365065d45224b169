// What nets see of a position: the active features of each block, and the planes.

import type { Block, Inputs, Plane, Seen } from './api'
import { piece, read, square, unit } from './board'
import { h, svg } from './dom'
import { sentence } from './format'
import { drawings } from './pieces'

// cell is where a square, or a place of a plane, is on a small board: the first row below.
const cell = (at: number): { x: number; y: number } => ({ x: at % 8, y: 7 - Math.floor(at / 8) })

function small(label: string, ...parts: (SVGElement | false)[]): SVGElement {
  const light: string[] = []
  for (let at = 0; at < 64; at++) if ((at + (at >> 3)) % 2) light.push(`M${cell(at).x} ${cell(at).y}h1v1h-1z`)
  return svg('svg', { viewBox: '0 0 8 8', role: 'img', 'aria-label': label },
    svg('rect', { class: 'dim', width: 8, height: 8 }), svg('path', { class: 'bright', d: light.join('') }), ...parts)
}

// drawBlock draws which pieces the active features of a block need, from one perspective.
function drawBlock(fen: string, seen: Seen, side: string): HTMLElement {
  const p = read(fen), parts: SVGElement[] = []
  const needed: string[] = []
  seen.squares.forEach((n, at) => {
    const letter = p.squares[at], { x, y } = cell(at)
    if (!letter || !drawings[letter.toLowerCase()]) return
    if (n) parts.push(svg('rect', { class: 'on', x, y, width: 1, height: 1 }))
    parts.push(svg('g', { transform: `scale(${1 / unit})` }, piece(letter, x * unit, y * unit, unit)))
    if (n) parts.push(svg('text', { x: x + 0.95, y: y + 0.95, 'text-anchor': 'end' }, n))
    if (n) needed.push(`${square(at)} ${n}`)
  })
  const hands = Object.entries(seen.hands)
  return h('figure', {}, h('figcaption', {}, `Seen by ${side}: ${seen.active.length} active`),
    small(`Features by square, seen by ${side}: ${needed.join(', ') || 'none'}`, ...parts),
    hands.length > 0 && h('p', { class: 'hint' }, 'One piece in hand: ' + hands.map(([k, n]) => `${k} ${n}`).join(', ')))
}

function drawPlane(p: Plane, i: number): HTMLElement {
  const caption = `${i} ${p.name}`
  if (p.constant) {
    const v = p.values[0]
    return h('figure', {}, h('figcaption', {}, caption),
      small(`${caption}: ${v} everywhere`, v !== 0 && svg('rect', { class: 'on', width: 8, height: 8 }),
        svg('text', { class: 'value', x: 4, y: 4.6, 'text-anchor': 'middle' }, String(Number(v.toPrecision(3))))))
  }
  const on = p.values.map((v, at) => ({ v, ...cell(at) })).filter(c => c.v !== 0)
  return h('figure', {}, h('figcaption', {}, caption),
    small(`${caption}: ${on.length} squares`, svg('path', { class: 'on', d: on.map(c => `M${c.x} ${c.y}h1v1h-1z`).join('') })))
}

const block = (fen: string) => (b: Block): HTMLElement =>
  h('section', { class: 'block' }, h('h3', {}, b.name), h('p', { class: 'words' }, `${sentence(b.means)}. ${b.size.toLocaleString('en')} features.`),
    h('div', { class: 'boards' }, ...b.sides.map((s, i) => drawBlock(fen, s, i === 0 ? 'White' : 'Black'))),
    h('details', {}, h('summary', {}, `Numbers of the active features of ${b.name}`),
      ...b.sides.map((s, i) => h('p', { class: 'hint numbers' }, `${i === 0 ? 'White' : 'Black'}: ${s.active.join(' ') || 'none'}`))))

// drawInputs draws all of it.
export function drawInputs(fen: string, all: Inputs): HTMLElement {
  const blocks = all.blocks.length > 0 && h('div', {},
    h('p', { class: 'words' }, `${sentence(all.net)} sees ${all.features}. A number says how many active features need the piece there: without it they would not be active. ` +
      'Kings cannot be taken away.'),
    ...all.blocks.map(block(fen)))
  return h('div', { class: 'inputs' }, blocks,
    h('details', {}, h('summary', {}, 'The 34 planes of convolutional nets'),
      h('p', { class: 'words' }, 'The side to move is below. Planes with a number have it on all squares.'),
      h('div', { class: 'planes' }, ...all.planes.map(drawPlane))))
}
