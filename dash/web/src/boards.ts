// The games of the actors on small boards: those under way in the process of the page, or
// the newest finished one of each actor.

import type { BoardLine, Boards } from './api'
import { Board } from './board'
import { count, generation, percent } from './format'
import { h, set } from './dom'
import { said } from './gameparts'
import { latest } from './latest'
import type { State } from './api'

interface Shown { element: HTMLElement; board: Board; bar: HTMLElement; head: HTMLElement; words: HTMLElement }

function make(): Shown {
  const bar = h('div', { class: 'evalbar', role: 'img' }, h('span', {})), board = new Board(bar)
  const head = h('h3', {}), words = h('p', { class: 'words' })
  return { element: h('li', {}, head, h('div', { class: 'play' }, board.element), words), board, bar, head, words }
}

function show(s: Shown, b: BoardLine): void {
  s.board.show(b.fen, b.uci, b.check)
  const filled = s.bar.firstElementChild as HTMLElement
  filled.style.height = `${100 * (b.win ?? 0.5)}%`
  s.bar.setAttribute('aria-label', b.win === null ? 'no evaluation' : `White expects ${percent(b.win)}`)
  const [w, k] = b.generations
  const nets = w === k ? generation(w) : `${generation(w)} against ${generation(k)}`
  set(s.head, b.actor)
  if (b.result === '*') {
    set(s.words, `${nets}, ply ${b.plies}: `, h('b', {}, b.san), ` · ${said(b)}`, b.win === null ? '' : ` · White expects ${percent(b.win)}`,
      b.line ? ` · expects ${b.line}` : '')
  } else {
    set(s.words, `${nets}, ${count(b.plies, 'ply', 'plies')}: `, h('a', { href: '#/games/' + encodeURIComponent(b.game) }, `${b.result}, ${b.reason}`))
  }
}

// boards is a card with the boards, and what is to be called with every state.
export function boards(): { element: HTMLElement; state(s: State): void } {
  const words = h('p', { class: 'words' }), list = h('ol', { class: 'boardlist' })
  const element = h('section', { class: 'card actorboards', 'aria-label': 'Boards' }, h('h2', {}, 'Boards'), words, list)
  const shown: Shown[] = []
  const follow = latest<Boards>('boards', b => {
    const more = b.more > 0 ? ` ${count(b.more, 'more is', 'more are')} not shown.` : ''
    set(words, (b.live ? (b.list.length ? 'The games that this process plays, after the newest search of each.' : 'No game is under way.')
      : b.list.length ? 'The newest finished game of each actor; games under way are known to the process that plays them (--dash).' : 'No game is known yet.') + more)
    while (shown.length < b.list.length) shown.push(make())
    b.list.forEach((line, i) => show(shown[i], line))
    const elements = shown.slice(0, b.list.length).map(s => s.element)
    if (elements.length !== list.children.length) list.replaceChildren(...elements)
  }, why => set(words, why))
  return { element, state: follow }
}
