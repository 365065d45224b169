// What views of games have in common: moves with numbers, the list of moves, texts to copy.

import type { Place } from './api'
import { h, set } from './dom'

// said is what the search said of a position, from White's side.
export function said(p: Place): string {
  if (p.mate !== null) return p.mate === 0 ? 'mate' : `mate in ${Math.abs(p.mate)} for ${p.mate > 0 ? 'White' : 'Black'}`
  if (p.score !== null) return (p.score >= 0 ? '+' : '−') + (Math.abs(p.score) / 100).toFixed(2)
  return 'no score'
}

// numbered is a move with its number: the number of the position before it.
export function numbered(before: Place, san: string): string {
  const fields = before.fen.split(' ')
  return `${fields[5] ?? '1'}${fields[1] === 'b' ? '…' : '.'} ${san}`
}

export const button = (label: string, text: string, go: () => void): HTMLButtonElement =>
  h('button', { type: 'button', 'aria-label': label, title: label, click: go }, text)

// MoveList is the moves of a game as buttons, one of which is marked.
export class MoveList {
  readonly element = h('ol', { class: 'moves', 'aria-label': 'Moves' })

  constructor(private readonly goto: (ply: number) => void) {}

  // show lists the moves between positions. Those that no search chose have a title.
  show(ps: Place[], untrained = ''): void {
    this.element.replaceChildren(...ps.slice(1).map((p, i) => {
      const plain = !untrained || ps[i].train
      return h('li', {}, h('button', { type: 'button', class: plain ? '' : 'untrained', title: plain ? '' : untrained, click: () => this.goto(i + 1) },
        ps[i].fen.split(' ')[1] === 'w' || i === 0 ? numbered(ps[i], p.san) : p.san))
    }))
  }

  // mark marks the move that led to a position, 0 being the start.
  mark(at: number): void {
    this.element.querySelectorAll('button').forEach((b, i) => {
      if (i !== at - 1) {
        b.removeAttribute('aria-current')
        return
      }
      b.setAttribute('aria-current', 'step')
      const box = this.element.getBoundingClientRect(), own = b.getBoundingClientRect()
      if (own.top < box.top || own.bottom > box.bottom) this.element.scrollTop += own.top - box.top - box.height / 2
    })
  }
}

// Steps goes through positions, by buttons and by the keys of the whole page. Now is null
// while there are none.
export class Steps {
  readonly element: HTMLElement

  constructor(private readonly now: () => number | null, private readonly goto: (to: number) => void, private readonly turn: () => void) {
    const by = (plies: number): void => goto((now() ?? 0) + plies)
    this.element = h('div', {}, h('div', { class: 'buttons' },
      button('First position', '|◀', () => goto(0)), button('Back', '◀', () => by(-1)), button('Forward', '▶', () => by(1)),
      button('Last position', '▶|', () => goto(Infinity)), button('Turn the board', '⇅', turn)),
    h('p', { class: 'hint' }, 'Keys: ← → one ply, Home and End, F turns the board.'))
    addEventListener('keydown', this.key)
  }

  close(): void {
    removeEventListener('keydown', this.key)
  }

  private readonly key = (e: KeyboardEvent): void => {
    const target = e.target as HTMLElement, now = this.now()
    if (now === null || e.ctrlKey || e.metaKey || e.altKey || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName) || target.closest('.scroll')) return
    if (e.key === 'ArrowRight') this.goto(now + 1)
    else if (e.key === 'ArrowLeft') this.goto(now - 1)
    else if (e.key === 'Home') this.goto(0)
    else if (e.key === 'End') this.goto(Infinity)
    else if (e.key === 'f' || e.key === 'F') this.turn()
    else return
    e.preventDefault()
  }
}

// CopyField is a text that can be copied.
export class CopyField {
  readonly element: HTMLElement
  private readonly text: HTMLInputElement | HTMLTextAreaElement
  private readonly copied = h('span', { role: 'status', class: 'copied' })

  constructor(name: string, rows: number) {
    const id = name.toLowerCase()
    this.text = rows > 1 ? h('textarea', { readonly: true, id, rows, spellcheck: 'false' }) : h('input', { type: 'text', readonly: true, id, spellcheck: 'false' })
    this.element = h('div', {}, h('label', { for: id }, name),
      h('div', { class: 'copy' }, this.text, button('Copy ' + name, 'Copy', () => void this.copy())), this.copied)
  }

  show(text: string): void {
    this.text.value = text
    set(this.copied)
  }

  private async copy(): Promise<void> {
    this.text.select()
    try {
      await navigator.clipboard.writeText(this.text.value)
      set(this.copied, 'Copied.')
    } catch {
      set(this.copied, 'Selected: copy it with the keys of your system.')
    }
  }
}
