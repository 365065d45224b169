// A board on which moves are made: by drag, by click, or with the keys. Which moves there
// are, the server says.

import { Board, piece, read, square, unit } from './board'
import { h, set, svg } from './dom'
import { count } from './format'
import { drawings, names } from './pieces'

const promotions = ['q', 'n', 'r', 'b']

export class PlayBoard extends Board {
  private moves: string[] = []   // legal, as UCI has them
  private origin = ''            // a square, or a piece in hand as "N@"; empty: none chosen
  private focused = 12           // square that the keys are on
  private readonly cells: HTMLButtonElement[] = []
  private readonly grid = h('div', { class: 'cells', role: 'group' })
  private readonly asks = h('div', { class: 'promotions', role: 'group', 'aria-label': 'Promote to', hidden: true })
  private dragged: { name: string; ghost: SVGElement; x: number; y: number; moved: boolean } | null = null

  // said is called with what a click has come to, in words.
  constructor(label: string, private readonly play: (uci: string) => void, private readonly said: (text: string) => void) {
    super()
    this.grid.setAttribute('aria-label', label)
    for (let at = 0; at < 64; at++) {
      const cell = h('button', { type: 'button', tabindex: -1, 'data-square': square(at), click: () => this.choose(square(at)), focus: () => { this.focused = at } })
      this.cells.push(cell)
    }
    const squares = h('div', { class: 'squares' })
    this.drawing.replaceWith(squares)
    squares.append(this.drawing, this.grid, this.asks)
    this.element.classList.add('playboard')
    this.element.addEventListener('keydown', e => this.key(e))
    this.element.addEventListener('pointerdown', e => this.press(e))
    this.element.addEventListener('pointermove', e => this.drag(e))
    this.element.addEventListener('pointerup', e => this.release(e))
    this.element.addEventListener('pointercancel', () => this.drop())
  }

  // allow says which moves may be made.
  allow(moves: string[]): void {
    this.moves = moves
    this.origin = ''
    this.asks.hidden = true
    this.drop()
    this.draw()
  }

  protected override draw(): void {
    super.draw()
    const p = read(this.fen), order: HTMLButtonElement[] = []
    const from = new Set(this.moves.filter(m => m[1] !== '@').map(m => m.slice(0, 2)))
    const to = new Set(this.moves.filter(m => this.origin && m.startsWith(this.origin)).map(m => m.slice(2, 4)))
    for (let i = 0; i < 64; i++) {
      const at = this.flipped ? (i & 56) + 7 - (i & 7) : 56 - (i & 56) + (i & 7)
      const name = square(at), letter = p.squares[at], cell = this.cells[at]
      const what = letter ? `${letter < 'a' ? 'White' : 'Black'} ${names[letter.toLowerCase()]}${p.promoted[at] ? ', promoted' : ''}` : 'empty'
      cell.setAttribute('aria-label', `${name}, ${what}${to.has(name) ? ', move here' : ''}`)
      cell.setAttribute('aria-pressed', String(name === this.origin))
      cell.className = [from.has(name) && 'own', to.has(name) && 'target', name === this.origin && 'origin', letter && 'taken'].filter(Boolean).join(' ')
      cell.tabIndex = at === this.focused ? 0 : -1
      order.push(cell)
    }
    if (order.some((c, i) => this.grid.children[i] !== c)) {
      const focus = this.grid.contains(document.activeElement)
      this.grid.replaceChildren(...order)
      if (focus) this.cells[this.focused].focus({ preventScroll: true })
    }
  }

  protected override hand(e: HTMLElement, p: ReturnType<typeof read>, white: boolean): void {
    const focus = document.activeElement instanceof HTMLElement && e.contains(document.activeElement) ? document.activeElement.dataset.drop : undefined
    const drops = new Set(this.moves.filter(m => m[1] === '@').map(m => m[0]))
    set(e, h('span', { class: 'side' + (p.white === white ? ' turn' : '') }, white ? 'White' : 'Black'),
      ...[...'qrbnp'].map(k => {
        const letter = white ? k.toUpperCase() : k, n = p.hands[letter] ?? 0, may = p.white === white && drops.has(k.toUpperCase())
        return h('button', { type: 'button', class: 'held' + (n ? '' : ' gone'), disabled: !may, 'data-drop': k.toUpperCase() + '@', click: () => this.choose(k.toUpperCase() + '@'),
          'aria-pressed': may && this.origin === k.toUpperCase() + '@' ? 'true' : 'false', 'aria-label': `Drop a ${names[k]}, ${n} in hand` },
        svg('svg', { viewBox: `0 0 ${unit} ${unit}`, 'aria-hidden': 'true' }, piece(letter, 0, 0, unit)), `×${n}`)
      }))
    if (focus) e.querySelector<HTMLElement>(`[data-drop="${focus}"]`)?.focus({ preventScroll: true })
  }

  // choose takes a square or a piece in hand, first as the origin of a move, then as
  // where it goes.
  choose(name: string): void {
    if (this.dragged?.moved) return
    const fits = this.moves.filter(m => this.origin && m.startsWith(this.origin) && m.slice(2, 4) === name)
    if (this.origin && fits.length > 0) {
      if (fits.length > 1) this.promote(fits)
      else this.play(fits[0])
      return
    }
    const own = this.moves.filter(m => m.startsWith(name))
    const again = name === this.origin
    this.origin = again || own.length === 0 ? '' : name
    this.asks.hidden = true
    this.draw()
    if (this.origin) this.said(`${name.includes('@') ? 'Drop a ' + names[name[0].toLowerCase()] : name}: ${count(own.length, 'move', 'moves')}; choose where.`)
    else this.said(again ? 'Nothing is chosen.' : this.moves.length ? `No move begins on ${name}.` : '')
  }

  private promote(moves: string[]): void {
    const white = read(this.fen).white
    this.asks.replaceChildren(...promotions.filter(k => moves.some(m => m[4] === k)).map(k =>
      h('button', { type: 'button', 'aria-label': names[k], click: () => { this.asks.hidden = true; this.play(moves.find(m => m[4] === k)!) } },
        svg('svg', { viewBox: `0 0 ${unit} ${unit}`, 'aria-hidden': 'true' }, piece(white ? k.toUpperCase() : k, 0, 0, unit)))))
    this.asks.hidden = false
    this.said('Choose what the pawn becomes.')
    this.asks.querySelector('button')!.focus()
  }

  private key(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey) return
    const target = e.target as HTMLElement, letter = e.key.toUpperCase()
    if (e.key === 'Escape') {
      this.asks.hidden = true
      this.origin = ''
      this.draw()
      this.cells[this.focused].focus()
    } else if (target.dataset.square && e.key.startsWith('Arrow')) {
      const way = { ArrowUp: 8, ArrowDown: -8, ArrowLeft: -1, ArrowRight: 1 }[e.key]! * (this.flipped ? -1 : 1)
      const next = this.focused + way
      const there = next >= 0 && next < 64 && (Math.abs(way) > 1 || next >> 3 === this.focused >> 3)
      if (there) this.focus(next)
    } else if (target.dataset.square && drawings[e.key.toLowerCase()] && this.moves.some(m => m.startsWith(letter + '@'))) {
      this.choose(letter + '@')
    } else return
    e.preventDefault()
    e.stopPropagation()
  }

  private focus(at: number): void {
    this.cells[this.focused].tabIndex = -1
    this.focused = at
    this.cells[at].tabIndex = 0
    this.cells[at].focus()
  }

  // A piece follows the pointer from where it was pressed. Without a move of the
  // pointer it is a click.
  private press(e: PointerEvent): void {
    const from = (e.target as Element).closest<HTMLElement>('[data-square], [data-drop]')
    const name = from?.dataset.square ?? from?.dataset.drop ?? ''
    if (!name || e.button !== 0 || this.dragged || !this.moves.some(m => m.startsWith(name))) return
    const p = read(this.fen)
    const at = this.cells.indexOf(from as HTMLButtonElement)
    const letter = at >= 0 ? p.squares[at]! : p.white ? name[0] : name[0].toLowerCase()
    const ghost = svg('svg', { class: 'ghost', viewBox: `0 0 ${unit} ${unit}`, 'aria-hidden': 'true' }, piece(letter, 0, 0, unit))
    ghost.style.width = `${this.cells[0].getBoundingClientRect().width}px`
    this.dragged = { name, ghost, x: e.clientX, y: e.clientY, moved: false }
      }

  private drag(e: PointerEvent): void {
    const d = this.dragged
    if (!d) return
    if (!(e.buttons & 1)) { // let go outside, of which the board does not hear
      this.drop()
      this.origin = ''
      this.draw()
      return
    }
    if (!d.moved) {
      if (Math.hypot(e.clientX - d.x, e.clientY - d.y) < 5) return
      d.moved = true
      this.element.setPointerCapture(e.pointerId)
      this.origin = d.name
      this.asks.hidden = true
      this.draw()
      document.body.append(d.ghost)
    }
    d.ghost.style.left = `${e.clientX}px`
    d.ghost.style.top = `${e.clientY}px`
  }

  private release(e: PointerEvent): void {
    const d = this.dragged
    if (!d) return
    if (!d.moved) {
      this.dragged = null
      return // the click follows
    }
    d.ghost.remove()
    const over = document.elementsFromPoint(e.clientX, e.clientY).find(x => this.cells.includes(x as HTMLButtonElement)) as HTMLElement | undefined
    setTimeout(() => this.drop()) // after the click that a release may bring
    const name = over?.dataset.square ?? ''
    const fits = this.moves.filter(m => m.startsWith(this.origin) && m.slice(2, 4) === name)
    if (fits.length === 1) this.play(fits[0])
    else if (fits.length > 1) this.promote(fits)
    else {
      this.origin = ''
      this.draw()
    }
  }

  private drop(): void {
    this.dragged?.ghost.remove()
    this.dragged = null
  }
}
