// Analyse: a position or a game of one's own, with the net's lines, chances and threats.

import { ask, type Analysis, type Inputs, type Line, type State, type Table, type Threat, type Told } from './api'
import type { MakeView } from './main'
import { h, set } from './dom'
import { number, percent, signed } from './format'
import { button, CopyField, MoveList, numbered, Steps } from './gameparts'
import { drawInputs } from './inputs'
import { PlayBoard } from './playboard'

const nodeChoices = [2000, 10000, 50000, 200000]
const lineChoices = [1, 2, 3, 5, 8]
const calm = 300 // ms without another step before a position is searched

// What is analysed. It stays while other views are looked at.
let told: Told | null = null
let auto: boolean | null = null // null: nobody has chosen yet

const share = (perMille: number): string => percent(perMille / 1000)
const score = (l: Line): string => (l.mate !== undefined ? `mate ${signed(l.mate)}` : signed(l.cp! / 100, 2))

function threatWords(t: Threat): string {
  if (t.mate === 1) return 'mate'
  return [t.check && 'check', t.mate > 1 ? `mate in ${t.mate}` : `gains ${(t.gain / 100).toFixed(2)}`].filter(Boolean).join(', ')
}

export const analyse: MakeView = root => {
  const text = h('textarea', { id: 'text', rows: 4, spellcheck: 'false', maxlength: 250000 })
  const failed = h('p', { class: 'failed', role: 'alert', hidden: true })
  const head = h('p', { class: 'words' }, 'Give a FEN or a PGN, or move on the board.')
  const now = h('p', { class: 'now', 'aria-live': 'polite' })
  const board = new PlayBoard('Board: arrow keys go to a square, Enter chooses it', uci => void move(uci), words => set(now, words))
  const moves = new MoveList(to => goto(to))
  const fen = new CopyField('FEN', 1)
  const steps = new Steps(() => (told ? at : null), to => goto(to), () => board.flip())
  const found = h('div', { class: 'found', role: 'region', 'aria-label': 'Lines and threats', 'aria-live': 'polite' })
  const inputs = h('div', {})
  const nodes = h('select', { id: 'nodes', change: () => look() }, ...nodeChoices.map(n => h('option', { value: n, selected: n === 50000 }, `${n.toLocaleString('en')} nodes`)))
  const lines = h('select', { id: 'lines', change: () => look() }, ...lineChoices.map(n => h('option', { value: n, selected: n === 3 }, n === 1 ? '1 line' : `${n} lines`)))
  const each = h('input', { type: 'checkbox', id: 'each', change: () => { auto = each.checked; look() } })
  const searches = button('Search this position', 'Search', () => void search())
  const seen = h('details', { toggle: () => void see() }, h('summary', {}, 'What the net sees'), inputs)
  const playOn = h('a', { href: '#/play' }, 'Play from here')
  root.append(h('div', { class: 'table' },
    h('section', { class: 'card game', 'aria-label': 'Position' }, h('h2', {}, 'Analyse'), head, board.element, now, steps.element),
    h('div', {},
      h('section', { class: 'card' }, h('form', { submit: e => { e.preventDefault(); void load(text.value) } },
        h('label', { for: 'text' }, 'FEN or PGN'), h('div', { class: 'copy' }, text, h('button', { type: 'submit' }, 'Set up'))), failed,
      moves.element, fen.element, h('p', {}, playOn)),
      h('section', { class: 'card' }, h('h2', {}, 'Lines'),
        h('p', { class: 'filters' }, h('label', { for: 'nodes' }, 'Search'), nodes, h('label', { for: 'lines' }, 'with'), lines, searches,
          h('label', { for: 'each' }, each, ' search every position shown')), found))),
  h('section', { class: 'card' }, seen))

  let at = 0
  let reading: AbortController | null = null
  let asking: AbortController | null = null
  let waiting = 0

  const position = (): { fen: string; moves: string[] } => {
    const ps = told!.table.positions
    return { fen: ps[0].fen, moves: ps.slice(1, at + 1).map(p => p.uci) }
  }

  function fail(e: unknown): void {
    set(failed, e instanceof Error ? e.message : String(e))
    failed.hidden = false
  }

  // read asks for a game in place of what is still being asked for.
  async function read<T>(path: string, question: object): Promise<T | null> {
    reading?.abort()
    const own = reading = new AbortController()
    failed.hidden = true
    try {
      return await ask<T>(path, question, own.signal)
    } catch (e) {
      if (!own.signal.aborted) fail(e)
      return null
    }
  }

  async function load(words: string): Promise<void> {
    const t = await read<Told>('text', { text: words })
    if (t) show(t, 0)
  }

  // move makes a move in the position shown. The moves after it are left out.
  async function move(uci: string): Promise<void> {
    const table = await read<Table>('position', { ...position(), move: uci })
    if (table) show({ ...told!, table, result: table.result, more: false }, Infinity)
  }

  async function begin(): Promise<void> {
    const table = await read<Table>('position', { moves: [] })
    if (table) show({ table, white: '', black: '', result: '*', more: false }, 0)
  }

  function show(t: Told, to: number): void {
    told = t
    moves.show(t.table.positions)
    const names = t.white || t.black ? `${t.white || '?'} – ${t.black || '?'}, ${t.result}. ` : ''
    set(head, names, t.more ? 'The first game of several. ' : '', 'Give a FEN or a PGN, or move on the board.')
    goto(to)
  }

  function goto(to: number): void {
    if (!told) return
    const ps = told.table.positions
    at = Math.min(Math.max(0, to), ps.length - 1)
    const p = ps[at]
    board.show(p.fen, p.uci, p.check)
    fen.show(p.fen)
    moves.mark(at)
    playOn.setAttribute('href', '#/play/' + encodeURIComponent(p.fen))
    board.allow(at === ps.length - 1 ? told.table.legal.map(m => m.uci) : [])
    set(now, h('b', {}, at === 0 ? 'Start' : numbered(ps[at - 1], p.san)), ` · ply ${at} of ${ps.length - 1}`,
      at === ps.length - 1 && told.table.end ? ` · ${told.table.end}` : '')
    unsearched()
    look()
    void branch()
    void see()
  }

  // branch asks which moves there are in a position that others follow.
  async function branch(): Promise<void> {
    const own = at
    if (own === told!.table.positions.length - 1) return
    const t = await read<Table>('position', position())
    if (t && own === at) board.allow(t.legal.map(m => m.uci))
  }

  const unsearched = (): void => set(found, h('p', { class: 'words' }, 'Not searched yet.'))

  // look searches the position shown once nothing has changed for a while.
  function look(): void {
    if (asking) unsearched()
    asking?.abort()
    asking = null
    clearTimeout(waiting)
    if (each.checked) waiting = window.setTimeout(() => void search(), calm)
  }

  async function search(): Promise<void> {
    if (!told) return
    asking?.abort()
    const own = asking = new AbortController()
    set(found, h('p', { class: 'words' }, 'Searching.'))
    try {
      const a = await ask<Analysis>('analysis', { ...position(), lines: Number(lines.value), nodes: Number(nodes.value) }, own.signal)
      report(a)
    } catch (e) {
      if (!own.signal.aborted) set(found, h('p', { class: 'failed' }, e instanceof Error ? e.message : String(e)))
    } finally {
      if (asking === own) asking = null
    }
  }

  function report(a: Analysis): void {
    const side = a.fen.split(' ')[1] === 'b' ? 'Black' : 'White', other = side === 'White' ? 'Black' : 'White'
    if (a.ended) {
      set(found, h('p', {}, `${side} to move: ${a.ended}.`))
      return
    }
    found.replaceChildren(
      h('p', { class: 'words' }, `${side} to move, ${a.net}, depth ${a.depth}, ${number(a.nodes)} nodes`),
      h('ol', { class: 'lines' }, ...a.lines.map(l => h('li', {},
        h('div', { class: 'chances', role: 'img', 'aria-label': `${side} wins ${share(l.win)}, draws ${share(l.draw)}, loses ${share(l.loss)}` },
          ...(['win', 'draw', 'loss'] as const).map(k => { const e = h('span', { class: k }); e.style.flexGrow = String(l[k]); return e })),
        h('p', {}, h('b', {}, score(l)), ` win ${share(l.win)} · draw ${share(l.draw)} · loss ${share(l.loss)}`),
        h('p', {}, h('button', { type: 'button', 'aria-label': `Play ${l.san[0]}`, click: () => void move(l.uci[0]) }, l.san[0]), ' ', l.san.slice(1).join(' '))))),
      h('h3', {}, `What ${other} threatens to drop`),
      a.threats.length === 0 ? h('p', { class: 'words' }, 'Nothing, or the king is in check.')
        : h('ul', { class: 'threats' }, ...a.threats.map(t => h('li', {}, h('b', {}, t.san), ` ${threatWords(t)}`, t.line && h('span', { class: 'hint' }, ' ' + t.line)))))
  }

  let looking: AbortController | null = null
  // see draws what the net sees, if that is unfolded.
  async function see(): Promise<void> {
    if (!told || !seen.open) return
    looking?.abort()
    const own = looking = new AbortController()
    try {
      const all = await ask<Inputs>('inputs', position(), own.signal)
      const open = [...inputs.querySelectorAll('details')].map(d => d.open)
      inputs.replaceChildren(drawInputs(told.table.positions[at].fen, all))
      inputs.querySelectorAll('details').forEach((d, i) => { d.open = open[i] ?? false })
    } catch (e) {
      if (!own.signal.aborted) set(inputs, h('p', { class: 'failed' }, e instanceof Error ? e.message : String(e)))
    }
  }

  let known = false
  return {
    state(s: State) { // a run under way is not searched beside without being asked
      if (known) return
      known = true
      each.checked = auto ?? !s.live
      look()
    },
    route(rest) {
      if (rest[0]) {
        history.replaceState(null, '', '#/analyse')
        void load(rest[0])
      } else if (told) show(told, Infinity)
      else void begin()
    },
    close() {
      for (const a of [reading, asking, looking]) a?.abort()
      clearTimeout(waiting)
      steps.close()
    },
  }
}
