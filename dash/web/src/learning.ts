// Learning: strength with its error, the gate's matches, losses, and how old the data is.

import type { Learning, Match, Part } from './api'
import type { MakeView } from './main'
import { count, day, estimate, fixed, generation, loss, number, percent, short, signed } from './format'
import { fold, h, set, svg, table } from './dom'
import { at, LadderCard, type X } from './ladder'
import { latest } from './latest'
import { chart, type Chart } from './chart'

const shownRows = 40

// path draws the log-likelihood ratio of a match between its bounds.
export function path(m: Match): SVGElement {
  const width = 220, height = 56, edge = 4
  const low = Math.min(m.low, ...m.path), high = Math.max(m.high, ...m.path)
  const x = (i: number): number => edge + ((width - 2 * edge) * i) / Math.max(1, m.of)
  const y = (v: number): number => edge + ((height - 2 * edge) * (high - v)) / (high - low)
  const points = [0, ...m.path].map((v, i) => `${x(i).toFixed(1)},${y(v).toFixed(1)}`).join(' ')
  const end = m.path.length
  const now = end > 0 ? m.path[end - 1] : 0
  return svg('svg', { class: 'llr ' + (m.verdict || 'playing'), viewBox: `0 0 ${width} ${height}`, width, height, role: 'img',
    'aria-label': `log-likelihood ratio ${fixed(now, 2)} after ${end} of ${m.of} pairs, bounds ${fixed(m.low, 2)} and ${fixed(m.high, 2)}` },
    svg('line', { class: 'bound', x1: edge, x2: width - edge, y1: y(m.high), y2: y(m.high) }),
    svg('line', { class: 'bound', x1: edge, x2: width - edge, y1: y(m.low), y2: y(m.low) }),
    svg('line', { class: 'axis', x1: edge, x2: width - edge, y1: y(0), y2: y(0) }),
    svg('polyline', { points }),
    svg('circle', { cx: x(end), cy: y(now), r: 3 }))
}

function matchRow(m: Match, byNet: Map<string, number>): HTMLElement {
  const over = byNet.get(m.incumbent)
  return h('li', { class: 'match' },
    h('div', { class: 'who' },
      h('b', {}, m.generation > 0 ? generation(m.generation) : short(m.candidate)),
      ` against ${over ? generation(over) : short(m.incumbent)}`,
      h('span', { class: 'verdict ' + (m.verdict || 'playing') }, m.verdict || 'not decided')),
    path(m),
    h('p', {}, `${m.path.length} of ${m.of} pairs, LLR ${fixed(m.path[m.path.length - 1] ?? 0, 2)} of ${fixed(m.low, 2)} to ${fixed(m.high, 2)}. `,
      `Games: ${m.wins} won, ${m.draws} drawn, ${m.losses} lost.`))
}

// windowFigure is words and figure of the window, and its table.
function windowFigure(l: Learning): [Node[], Node | null] {
  const w = l.window
  if (!w) return [[h('p', {}, 'The window is not known here: the replay buffer is too large to be counted from its files, or is on another machine. A page that the run itself serves (--dash) has it.')], null]
  if (w.by.length === 0) return [[h('p', {}, 'No games are stored yet.')], null]
  const rows = w.by.reduce((sum, b) => sum + b.rows, 0)
  const most = Math.max(...w.by.map(b => b.rows))
  const bars = w.by.map(b => {
    const bar = h('span', { title: `${b.net === 'earlier' ? 'earlier nets' : generation(b.generation)}: ${number(b.rows)} positions of ${number(b.games)} games` })
    bar.style.height = `${(100 * b.rows) / most}%`
    return bar
  })
  const first = w.by[0], last = w.by[w.by.length - 1]
  const name = (b: typeof first): string => (b.net === 'earlier' ? 'earlier' : b.generation > 0 ? `generation ${b.generation}` : short(b.net))
  return [[
    h('p', { class: 'words' }, `The trainer draws from the newest ${number(w.rows)} positions. `,
      w.mean !== null ? `The net that played a position is ${w.mean.toFixed(1)} generations older than the present one, on average.` : '',
      w.whole ? '' : ' Not all of them could be counted from the files.'),
    h('div', { class: 'bars', role: 'img', 'aria-label': `Positions of the window by the net that played them, from ${name(first)} to ${name(last)}` }, ...bars),
    h('p', { class: 'ends', 'aria-hidden': 'true' }, h('span', {}, name(first)), h('span', {}, last === first ? '' : name(last))),
  ], table('Positions of the window by the net that played them', ['net', 'games', 'positions', 'share'],
      [...w.by].reverse().slice(0, shownRows).map(b => [name(b), number(b.games), number(b.rows), percent(b.rows / rows)]))]
}

// divided is the allocator's division of the cores.
function divided(parts: Part[]): Node[] {
  return [
    table('Shares of the cores, and what was used in the last seconds', ['part', 'share', 'used', 'what more earns'],
      parts.map(p => [p.name, percent(p.share, 0), percent(p.used, 0), p.earns === null ? '–' : `${signed(p.earns, 2)} ± ${p.margin === null ? 'n/a' : fixed(p.margin, 2)}`])),
    h('p', { class: 'words' }, 'What more earns: by how much faster the logarithm of the loss would fall, an hour, with half its share more, taken from play, and half of the 95 % interval.'),
  ]
}

export const learning: MakeView = root => {
  const words = h('p', { class: 'words' })
  const strength = h('div', {}), strengthTable = fold('As a table')
  const losses = h('div', {}), accuracy = h('div', {}), lossTable = fold('Nets offered, as a table')
  const matches = h('ol', { class: 'matches' })
  const drawn = h('div', {}), drawnTable = fold('Positions by net')
  const judged = fold('Verdicts')
  const cores = h('p', { class: 'words' }), parts = h('div', {}), ladder = new LadderCard(() => remake())
  let x: X = 'games'
  const choose = h('select', { 'aria-label': 'Horizontal axis', change: e => { x = (e.target as HTMLSelectElement).value as X; remake() } },
    h('option', { value: 'games' }, 'by games stored'), h('option', { value: 'time' }, 'by time'), h('option', { value: 'generation' }, 'by generation'))
  root.append(
    h('section', { class: 'card' }, h('div', { class: 'head' }, h('h2', {}, 'Strength'), choose), words, strength, strengthTable.element),
    ladder.element,
    h('section', { class: 'card' }, h('h2', {}, 'Gate'), h('p', { class: 'words' }, 'The log-likelihood ratio of a match walks between two bounds: at the upper one the candidate passes, at the lower one it fails. The newest match comes first.'), matches, judged.element),
    h('div', { class: 'two even' },
      h('section', { class: 'card' }, h('h2', {}, 'Loss on games not trained on'), losses),
      h('section', { class: 'card' }, h('h2', {}, 'Decisive positions whose sign the net has right'), accuracy)),
    h('section', { class: 'card' }, h('h2', {}, 'Window and age of the data'), drawn, drawnTable.element),
    h('section', { class: 'card' }, h('h2', {}, 'Division of cores'), cores, parts),
    lossTable.element)

  let charts: Chart[] = []
  let servers = false
  let division: Part[] | null = null
  let data: Learning | null = null

  function remake(): void {
    charts.forEach(c => c.close())
    const time = x === 'time', name = x === 'games' ? 'games stored' : x
    const elo = (v: number): string => signed(v)
    charts = [
      chart(strength, { label: 'Sum of Elo over the first player, with its 95 % interval', time, x: name, height: 280, format: elo, band: [2, 3], empty: '', series: [
        { label: 'Elo', color: '--c1', points: true }, { label: 'upper', color: '--c1', hidden: true }, { label: 'lower', color: '--c1', hidden: true }] }),
      chart(losses, { label: 'Loss of the nets offered', time, x: name, height: 220, format: v => String(Number(v.toPrecision(3))), series: [{ label: 'loss', color: '--c2' }] }),
      chart(accuracy, { label: 'Share of decisive positions whose sign the net has right', time, x: name, height: 220, format: (v, step) => percent(v, step !== undefined && step >= 0.01 ? 0 : 1), series: [{ label: 'right', color: '--c3' }] }),
    ]
    ladder.remake(x)
    draw()
  }

  function draw(): void {
    if (!data) return
    // A run that began anew may have the same number of games twice; curves go to the right.
    const rising = <T extends { time: string; games: number | null; generation: number }>(list: T[]): [number[], T[]] => {
      const xs: number[] = [], kept: T[] = []
      for (const p of list) {
        const place = at(x, p)
        if (place === null || xs.length > 0 && place <= xs[xs.length - 1]) continue
        xs.push(place)
        kept.push(p)
      }
      return [xs, kept]
    }
    const [sx, s] = rising(data.strength), [ox, o] = rising(data.offered.filter(p => p.held_out_loss > 0))
    const first = x === 'time' || s.length === 0 ? [] : [0] // the first player is where the sum begins; when, is not known
    charts[0].data([[...first, ...sx], [...first, ...s.map(p => p.sum)], [...first, ...s.map(p => p.sum + p.error)], [...first, ...s.map(p => p.sum - p.error)]])
    charts[1].data([ox, o.map(p => p.held_out_loss)])
    charts[2].data([ox, o.map(p => p.sign_accuracy || null)])
    ladder.draw(data, x, s.map((p, i) => ({ x: sx[i], sum: p.sum })))
  }

  // showCores is called with every state: what is used of the cores changes all the time.
  function showCores(l: Learning): void {
    const c = l.cores
    set(cores, c === null ? 'Known to the processes of the run: the view Actors lists them.'
      : `${count(c.actor, 'game', 'games')} at the same time by the actor, ${count(c.gate, 'game', 'games')} by the gate while it plays a match, and ${c.trainer > 0 ? count(c.trainer, 'thread', 'threads') : 'a thread for each core'} of the trainer`
        + (c.cpus > 0 ? `, on ${count(c.cpus, 'core', 'cores')}, which ${c.allocator ? 'the allocator divides' : 'they share'}.`
          : c.allocator ? '. In a loop the allocator divides the cores; a page that the run itself serves (--dash) has the shares.' : '.'))
    set(parts, ...(division ? divided(division) : []))
  }

  function show(): void {
    const l = data!, c = l.counts
    const newest = l.strength[l.strength.length - 1]
    set(words, servers && l.untold ? `The referee of the gate tells no verdicts: ${l.untold}. ` : '',
      c.missed > 0 ? `${count(c.missed, 'earlier verdict is', 'earlier verdicts are')} known to the gate alone. ` : '',
      newest
      ? `${signed(newest.sum)} Elo over the first player, as the sum of ${count(newest.matches, 'match', 'matches')}; the 95 % interval is ± ${newest.error.toFixed(0)}. `
      : 'No net has passed the gate yet. ',
      newest && newest.no_error > 0 ? `${count(newest.no_error, 'match has', 'matches have')} no finite error, as few games or none were lost; the band leaves ${newest.no_error === 1 ? 'it' : 'them'} out. ` : '',
      `${count(c.offered, 'net was', 'nets were')} ${servers ? 'found on the servers' : 'offered'}, ${c.judged} judged, ${c.passed} passed.`)
    ladder.show(l)
    showCores(l)
    const byNet = new Map(l.offered.map(o => [o.net, o.generation]))
    matches.replaceChildren(...l.matches.slice(0, 12).map(m => matchRow(m, byNet)))
    if (l.matches.length === 0) matches.replaceChildren(h('li', {}, 'No match is known.'))
    judged.show(l.judged.length === 0 ? null : table('Verdicts of the gate, the newest first', ['time', 'generation', 'verdict', 'Elo', 'games', 'why'],
      l.judged.slice(0, shownRows).map(j => [day(j.time), j.candidate, j.passed ? 'passed' : 'failed', estimate(j.elo), j.games, j.reason])))
    strengthTable.show(!newest ? null : table('Nets that passed, the newest first', ['time', 'generation', 'games stored', 'Elo over the net it was matched with', 'sum', '±'],
      [...l.strength].reverse().slice(0, shownRows).map(p => [day(p.time), p.generation, number(p.games), signed(p.elo, 1) + (p.margin === null ? '' : ` ± ${p.margin.toFixed(1)}`), signed(p.sum), p.error.toFixed(0)])))
    lossTable.show(l.offered.length === 0 ? null : table('Nets offered, the newest first', ['time', 'generation', 'step', 'games', 'loss', 'of scores', 'of results', 'signs right'],
      [...l.offered].reverse().slice(0, shownRows).map(p => [day(p.time), p.generation, number(p.step), number(p.games), loss(p.held_out_loss), loss(p.score_loss), loss(p.result_loss), p.sign_accuracy > 0 ? percent(p.sign_accuracy) : '–'])))
    const [figure, rows] = windowFigure(l)
    drawn.replaceChildren(...figure)
    drawnTable.show(rows)
    draw()
  }

  const follow = latest<Learning>('learning', answer => {
    data = answer
    show()
  }, why => set(words, why))
  remake()
  return {
    state(s) {
      servers = s.servers
      division = s.division
      if (data) showCores(data)
      follow(s)
    },
    route() {},
    close() {
      charts.forEach(c => c.close())
      ladder.close()
    },
  }
}
