// Overview: the data path, who waits for whom, and what happened last.

import { carriedState, type Link, type Progress, type Stage } from './api'
import type { MakeView } from './main'
import { clock, fixed, number } from './format'
import { h, set } from './dom'
import { chart, type Chart } from './chart'

const modes = { working: 'working', waiting: 'waiting', stopped: 'stopped', unknown: 'seen by its files' }
const kept = 300 // seconds of the rates
const gap = 15   // seconds without a state, as of a page that was not seen

function stage(s: Stage, all: Stage[]): HTMLElement {
  const waits = all.find(o => o.id === s.waits_for)
  return h('section', { class: `stage ${s.mode}`, 'data-id': s.id, 'aria-label': s.name },
    h('h3', {}, s.name, h('span', { class: 'mode' }, modes[s.mode])),
    h('p', { class: 'words' }, s.state || 'nothing is known'),
    waits && h('p', { class: 'waits' }, `waits for: ${waits.name}`),
    h('dl', {}, ...s.figures.map(f =>
      h('div', {}, h('dt', {}, f.name), h('dd', {}, f.text || number(f.value) + (f.unit ? ' ' + f.unit : ''))))))
}

function link(l: Link, to: Stage): HTMLElement {
  return h('div', { class: 'link' + (l.flows ? ' flows' : ''), 'data-from': l.from },
    h('span', { class: 'arrow', 'aria-hidden': 'true' }),
    h('span', { class: 'label' },
      h('b', {}, l.value === null ? '' : number(l.value) + (l.unit ? ' ' + l.unit : '')), ' ', l.name,
      h('span', { class: l.from === 'net' ? 'back' : 'hidden' }, `, to ${to.name}`)))
}

export function gateBar(g: Progress): HTMLElement {
  const at = Math.min(1, Math.max(0, (g.llr - g.low) / (g.high - g.low)))
  const llr = fixed(g.llr, 2), low = fixed(g.low, 2), high = fixed(g.high, 2)
  const words = `log-likelihood ratio ${llr} between ${low} and ${high}`
  const mark = h('span', { class: 'mark' })
  mark.style.left = `${100 * at}%`
  const zero = h('span', { class: 'zero' })
  zero.style.left = `${(100 * -g.low) / (g.high - g.low)}%`
  return h('div', { class: 'gatebar' },
    h('p', {}, g.generation > 0 ? `Generation ${g.generation} is judged: ` : 'A candidate is judged: ', h('b', {}, `pair ${g.pairs} of ${g.of}`)),
    h('div', { class: 'bar', role: 'img', 'aria-label': words }, zero, mark),
    h('p', { class: 'ends', 'aria-hidden': 'true' }, h('span', {}, `fails at ${low}`), h('b', {}, `LLR ${llr}`), h('span', {}, `passes at ${high}`)))
}

export const overview: MakeView = root => {
  const path = h('div', { class: 'path' })
  const findings = h('ul', { class: 'findings', role: 'status', 'aria-label': 'What stands still' })
  const gate = h('section', { class: 'card', 'aria-label': 'Gate' })
  const events = h('ol', { class: 'events' })
  const rates = h('div', {})
  const rateCard = h('section', { class: 'card' }, h('h2', {}, 'Rates since this page was opened'), rates)
  root.append(h('h2', {}, 'Data path'), findings, path, h('div', { class: 'two' }, rateCard,
    h('div', {}, gate, h('section', { class: 'card' }, h('h2', {}, 'What happened last'), events))))

  const seen: [number[], (number | null)[], (number | null)[]] = [[], [], []]
  const add = (at: number, played: number | null, trained: number | null): void => {
    seen[0].push(at)
    seen[1].push(played)
    seen[2].push(trained)
  }
  let drawn: Chart | null = null
  let second = ''

  return {
    state(s) {
      rateCard.hidden = carriedState !== null || s.stopped // rates are of a time, a report of a moment
      set(findings, ...s.findings.map(f => h('li', {}, f)))
      findings.hidden = s.findings.length === 0
      set(path, ...s.stages.flatMap((st, i) => [stage(st, s.stages), link(s.links[i], s.stages[(i + 1) % s.stages.length])]))
      gate.hidden = !s.gate
      if (s.gate) gate.replaceChildren(h('h2', {}, 'Gate'), gateBar(s.gate))
      set(events, ...s.events.slice(0, 14).map(e => h('li', {}, h('time', { datetime: e.time }, clock(e.time)), h('span', {}, e.text))))

      const play = s.links.find(l => l.from === 'play'), train = s.links.find(l => l.from === 'store')
      const at = Date.parse(s.time) / 1000, before = seen[0][seen[0].length - 1]
      if (at - before > gap) add(before + 1, null, null)
      add(at, play?.value ?? null, train?.value ?? null)
      while (seen[0].length > kept) seen.forEach(c => c.shift())
      const unit = `${play?.name ?? ''} ${train?.value !== null}`
      if (drawn === null || second !== unit) {
        second = unit
        drawn?.close()
        const series = [{ label: `${play?.name ?? 'games'}/s`, color: '--c1' }]
        if (train && train.value !== null) series.push({ label: `${train.name}/s`, color: '--c2' })
        drawn = chart(rates, { label: 'Rates a second', time: true, series, height: 260, zero: true, gaps: true })
      }
      drawn.data(drawn.count === 1 ? [seen[0], seen[1]] : [seen[0], seen[1], seen[2]])
    },
    route() {},
    close() { drawn?.close() },
  }
}
