// Nets: their lineage, what the gate said of them, their losses, and what rounding to
// integers costs.

import { carriedState, type NetLine, type Nets, type State } from './api'
import type { MakeView } from './main'
import { day, estimate, known, loss, number, percent, short } from './format'
import { fold, h, set, svg, table } from './dom'
import { latest } from './latest'
import { chart, type Chart } from './chart'
import { control } from './control'

const rawUnits = 208 // of a pawn
const inFigure = 60  // newest nets
const shownRows = 40
const again = 15 // times that a picture of a neuron is asked for again, each a second later

// follows says whether a net was played with next: it passed, or there was no gate.
const follows = (n: NetLine): boolean => n.verdict === 'passed' || n.ungated
const verdict = (n: NetLine, open: string): string => n.verdict || (n.ungated ? 'played with, no gate' : open)

// lineage draws the newest nets: those that were played with on a line, each failed one on a
// branch from the net it was played against.
function lineage(list: NetLine[]): SVGElement {
  const newest = list.slice(0, inFigure).reverse()
  const step = 26, height = 96, trunk = 30, branch = 72
  const width = Math.max(300, (newest.length + 1) * step)
  const x = new Map(newest.map((n, i) => [n.net, (i + 1) * step]))
  const parts: SVGElement[] = []
  let before = -1
  for (const n of newest) {
    const at = x.get(n.net)!
    if (follows(n)) {
      parts.push(svg('line', { class: 'trunk', x1: before < 0 ? 0 : before, y1: trunk, x2: at, y2: trunk }))
      before = at
    } else {
      const from = x.get(n.over) ?? (before < 0 ? 0 : before)
      parts.push(svg('path', { class: 'branch', d: `M${from} ${trunk} C${from + 14} ${branch} ${at - 14} ${branch} ${at} ${branch}` }))
    }
  }
  for (const n of newest) {
    const at = x.get(n.net)!, passed = follows(n), y = passed ? trunk : branch
    parts.push(svg('circle', { class: n.verdict || 'open', cx: at, cy: y, r: passed ? 6 : 4 },
      svg('title', {}, `generation ${n.generation}, net ${short(n.net)}: ${verdict(n, 'not judged')}${n.elo ? `, ${estimate(n.elo)} Elo` : ''}`)))
    parts.push(svg('text', { x: at, y: passed ? trunk - 12 : branch + 18, 'text-anchor': 'middle' }, n.generation))
  }
  return svg('svg', { class: 'lineage', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img',
    'aria-label': `Lineage of the newest ${newest.length} nets; the table below says the same` }, ...parts)
}

// neurons is a card with pictures of what neurons of the present net look for, one at a time.
function neurons(): { element: HTMLElement; show(width: number, net: string): void } {
  let width = 0, net = ''
  const number = h('input', { id: 'neuron', type: 'number', min: 0, value: 0, change: () => draw() })
  const picture = h('img', { alt: '', class: 'neuron' }), failed = h('p', { class: 'words', role: 'status' })
  let left = 0 // times that the picture is asked for again
  const step = (by: number) => (): void => { number.value = String((Number(number.value) + by + width) % Math.max(1, width)); draw() }
  const frame = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Neuron' }, picture)
  const element = h('section', { class: 'card' }, h('h2', {}, 'Neurons'),
    h('p', { class: 'words' }, 'What a neuron of the first layer looks for in the net that is played with: its weights by piece and square, and the hands below.'),
    h('p', { class: 'filters' }, h('label', { for: 'neuron' }, 'Neuron'), number, h('button', { type: 'button', click: step(-1) }, 'Before'), h('button', { type: 'button', click: step(1) }, 'Next')),
    failed, frame)
  picture.addEventListener('error', () => {
    frame.hidden = true
    set(failed, 'There is no picture now: there is no such neuron, or the server searches for others.')
    const missing = picture.src
    setTimeout(() => {
      if (picture.isConnected && picture.src === missing && left-- > 0) ask()
    }, 1000)
  })
  picture.addEventListener('load', () => { frame.hidden = false; set(failed) })
  function draw(): void {
    set(failed, 'The picture is being drawn.')
    picture.alt = `Weights of neuron ${number.value} by piece and square`
    left = again
    ask()
  }
  // An answer does not say to a picture why it is none.
  function ask(): void {
    picture.src = `api/neurons/${Number(number.value)}?net=${net.slice(0, 8)}`
  }
  return {
    element,
    show(w, current) {
      element.hidden = w === 0
      if (w === 0 || (w === width && current === net)) return
      width = w
      net = current
      number.max = String(w - 1)
      draw()
    },
  }
}

export const nets: MakeView = root => {
  const about = h('p', { class: 'words' })
  const figure = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Lineage' })
  const hint = h('p', { class: 'hint' })
  const rounding = h('div', {})
  const list = h('div', {})
  const all = fold('All figures')
  const rounded = h('section', { class: 'card' }, h('h2', {}, 'Integer net against float net'),
    h('p', { class: 'words' }, `How far the integer net is from the float net that was trained, over held-out positions, in centipawns (${rawUnits} raw units are a pawn).`), rounding)
  root.append(
    h('section', { class: 'card' }, h('h2', {}, 'Lineage'), about, figure, hint), rounded,
    h('section', { class: 'card' }, h('h2', {}, 'Nets'), list, all.element))
  const drawing = neurons()
  if (!carriedState) root.append(drawing.element)
  const choice = control()
  root.append(choice)
  const drawn: Chart = chart(rounding, { label: 'Difference between integer and float net by generation, in centipawns', x: 'generation', height: 200, zero: true,
    series: [{ label: 'mean', color: '--c1' }, { label: 'greatest', color: '--c2' }] })

  function show(n: Nets, s: State): void {
    const open = s.servers ? 'not played with' : 'not judged'
    drawing.show(n.width, n.current)
    const a = n.newest
    set(about, a
      ? `${a.architecture}; features ${a.features}; ${(a.size / 1e6).toFixed(1)} MB; seed ${a.seed}; build ${a.build}. `
      : 'No net is on disk yet. ', n.current ? `The run plays with ${short(n.current)}.` : '')
    figure.hidden = hint.hidden = n.list.length === 0
    set(hint, 'On the line: nets that passed, each of which was played with next. Below: nets that failed (red), from the net they were played against, and nets that were not judged (grey).',
      n.list.some(o => o.ungated) && ' Grey on the line: nets that were played with without a gate.')
    const atEnd = figure.scrollLeft + figure.clientWidth > figure.scrollWidth - 2 // it stops at parts of pixels
    figure.replaceChildren(lineage(n.list))
    if (atEnd) figure.scrollLeft = figure.scrollWidth
    // It is 0 where it was not measured. Nets of planes have expected results in the place of raw units.
    const planes = s.run.kind === 'planes', measured = (o: NetLine): boolean => !planes && o.export_max_raw > 0
    rounded.hidden = planes
    const rising = [...n.list].reverse().filter(measured).filter((o, i, l) => i === 0 || o.generation > l[i - 1].generation)
    drawn.data([rising.map(o => o.generation), rising.map(o => (100 * o.export_mean_raw) / rawUnits), rising.map(o => (100 * o.export_max_raw) / rawUnits)])
    const byNet = new Map(n.list.map(o => [o.net, o.generation]))
    const over = (o: NetLine): string => (o.over ? (byNet.has(o.over) ? String(byNet.get(o.over)) : short(o.over)) : '–')
    set(list, n.list.length === 0 ? h('p', {}, 'No net has been offered yet.') : table('Nets, the newest first', ['generation', 'net', 'verdict', 'against', 'Elo', 'loss', 'signs right', 'rounding, cp'],
      n.list.slice(0, shownRows).map(o => [
        h('span', {}, o.generation, o.net === n.current ? h('span', { class: 'verdict passed' }, 'played with') : null),
        h('code', { title: o.net }, short(o.net)),
        h('span', { class: 'verdict ' + (o.verdict || 'open'), title: o.reason }, verdict(o, open)),
        over(o), o.elo ? estimate(o.elo) : '–', loss(o.held_out_loss), o.sign_accuracy > 0 ? percent(o.sign_accuracy) : '–',
        !measured(o) ? '–' : `${((100 * o.export_mean_raw) / rawUnits).toFixed(1)}, at most ${((100 * o.export_max_raw) / rawUnits).toFixed(0)}`,
      ])))
    all.show(n.list.length === 0 ? null : table('Further figures of the nets, the newest first', ['generation', 'id', 'offered', 'step', 'games', 'samples', 'loss of scores', 'of results', 'judged in', 'on disk', 'why'],
      n.list.slice(0, shownRows).map(o => [o.generation, h('code', {}, o.net), day(o.time), number(o.step), number(o.games), o.samples ? number(o.samples) : '–',
        loss(o.score_loss), loss(o.result_loss), o.verdict && known(o.time) ? `${o.seconds.toFixed(1)} s` : '–', o.on_disk ? 'yes' : 'no', o.reason || '–'])))
  }

  const follow = latest<Nets>('nets', show, why => set(about, why))
  return {
    state(s) {
      choice.hidden = !s.control
      follow(s)
    },
    route() {},
    close() { drawn.close() },
  }
}
