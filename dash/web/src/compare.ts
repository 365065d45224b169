// Compare: a comparison of representations, how far it is, its table and who has met whom.

import type { CompareRow, Comparison, MatrixCell } from './api'
import type { MakeView } from './main'
import { duration, number, percent, sentence, signed } from './format'
import { h, set } from './dom'
import { latest } from './latest'

const stages: Record<string, string> = { nodes: 'At fixed nodes', time: 'At fixed time', ladder: 'Against the ladder' }
const rising = new Set(['loss', 'inputs', 'active', 'parameters', 'file', 'name']) // less is better, or the order of names
const quietAfter = 60 // seconds without a report

function bar(name: string, done: number, of: number): Node[] {
  return of === 0 ? [] : [
    h('label', {}, name), h('progress', { value: done, max: of, 'aria-label': name }), h('span', {}, `${number(done)} of ${number(of)}`)]
}

function figure(r: CompareRow, id: string, digits: number): string {
  const f = r.figures[id]
  if (!f) return '–'
  const value = digits === 0 && !['elo', 'time', 'ladder'].includes(id) ? number(f.value) : digits === 0 ? signed(f.value) : f.value.toFixed(digits)
  return f.margin > 0 ? `${value} ± ${f.margin.toFixed(digits)}` : value
}

function cell(c: MatrixCell, same: boolean, a: string, b: string): HTMLElement {
  if (same || c.of === 0) return h('td', {}, same ? '' : '–')
  const words = c.pairs === 0 ? 'not begun' : percent(c.score, 0)
  const elo = c.rated ? `; ${signed(c.elo)} Elo, 95 % interval ${signed(c.low)} to ${signed(c.high)}${c.found ? ', beyond chance' : ''}` : ''
  return h('td', { title: `${a} against ${b}: ${c.pairs} of ${c.of} pairs${elo}`, class: c.found ? 'found' + (c.elo < 0 ? ' below' : '') : '' },
    words, c.pairs < c.of && c.pairs > 0 ? ` (${c.pairs} of ${c.of})` : '')
}

export const compare: MakeView = root => {
  const progress = h('div', { class: 'progress' }), words = h('p', { class: 'words', role: 'status' })
  const said = h('ul', { class: 'plain' }), saidCard = h('section', { class: 'card' }, h('h2', {}, 'What it shows'), said)
  const list = h('div', {}), matrices = h('div', {})
  const findings = h('ul', { class: 'findings', role: 'status', 'aria-label': 'What cannot be read' })
  root.append(h('section', { class: 'card' }, h('h2', {}, 'Progress'), findings, words, progress), saidCard,
    h('section', { class: 'card' }, h('h2', {}, 'Rows'), list), matrices)

  let by = '', down = false
  let last: Comparison | null = null

  function sorted(c: Comparison): CompareRow[] {
    if (by === '') return c.rows // as the comparison sorts them
    const value = (r: CompareRow): number => r.figures[by]?.value ?? (down ? -Infinity : Infinity)
    return [...c.rows].sort((a, b) => (down ? -1 : 1) * (by === 'name' ? a.name.localeCompare(b.name) : value(a) - value(b)))
  }

  function head(id: string, title: string): HTMLElement {
    const attrs = by === id ? { scope: 'col', 'aria-sort': down ? 'descending' : 'ascending' } : { scope: 'col' }
    return h('th', attrs, h('button', { type: 'button', 'data-id': id, click: () => sort(id) }, title, by === id ? (down ? ' ▼' : ' ▲') : ''))
  }

  function sort(id: string): void {
    down = by === id ? !down : !rising.has(id)
    by = id
    if (last) table(last)
  }

  function table(c: Comparison): void {
    const focus = list.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.id : undefined
    set(list, h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Rows of the comparison' }, h('table', {},
      h('thead', {}, h('tr', {}, head('name', 'row'), h('th', { scope: 'col' }, 'inputs are'), c.over ? null : h('th', { scope: 'col' }, 'nets'),
        ...c.columns.map(k => head(k.id, k.title)))),
      h('tbody', {}, ...sorted(c).map(r => h('tr', {}, h('th', { scope: 'row' }, r.name), h('td', {}, h('code', {}, r.expression)),
        c.over ? null : h('td', {}, r.nets), ...c.columns.map(k => h('td', { class: 'number' }, figure(r, k.id, k.digits)))))))))
    if (focus) list.querySelector<HTMLElement>(`button[data-id="${focus}"]`)?.focus({ preventScroll: true })
  }

  function show(c: Comparison): void {
    last = c
    const p = c.progress
    const quiet = p ? (Date.parse(c.time) - Date.parse(p.time)) / 1000 : 0
    set(words, c.over ? 'It is over.' : p
      ? `Being done: ${p.work || 'nothing yet'}. ${duration(p.eta_seconds)} left.` + (quiet > quietAfter ? ` Nothing was reported for ${duration(quiet)}: it may have been interrupted; the same command goes on.` : '')
      : 'Nothing is known of how far it is.')
    set(progress, ...(p && !c.over ? [...bar('nets trained', p.nets, p.nets_of), ...bar('pairs played', p.pairs, p.pairs_of), ...bar('nets given puzzles', p.puzzled, p.puzzled_of)] : []))
    saidCard.hidden = c.said.length + c.warnings.length === 0
    set(said, ...c.said.map(s => h('li', {}, s)), ...c.warnings.map(s => h('li', {}, `Warning: ${s}`)))
    table(c)
    set(matrices, ...c.stages.map(s => h('section', { class: 'card' }, h('h2', {}, stages[s.stage] ?? s.stage),
      h('p', { class: 'words' }, `${s.limits ? sentence(s.limits) + '. ' : ''}Points of the row's player against the column's, in percent; what is beyond chance is coloured. Hold the pointer over a field for the ratings.`),
      h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `${stages[s.stage] ?? s.stage}: who scored what against whom` }, h('table', { class: 'matrix' },
        h('thead', {}, h('tr', {}, h('td', {}), ...s.players.map(n => h('th', { scope: 'col' }, n)))),
        h('tbody', {}, ...s.players.map((n, i) => h('tr', {}, h('th', { scope: 'row' }, n), ...s.players.map((o, k) => cell(s.cells[i][k], i === k, n, o))))))))))
  }

  const look = latest<Comparison>('comparison', show, why => set(words, why))
  return {
    state(s) {
      set(findings, ...s.findings.map(f => h('li', {}, f)))
      findings.hidden = s.findings.length === 0
      look(s)
    },
    route() {},
    close() {},
  }
}
