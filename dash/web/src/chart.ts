// Curves, drawn by uPlot in the page's colours.

import uPlot from 'uplot'
import { h } from './dom'
import { number, tick } from './format'

export interface Series { label: string; color: string; points?: boolean; hidden?: boolean }
export interface Options {
  label: string            // for those who do not see it
  time?: boolean           // x is seconds since 1970
  x?: string               // name of x
  series: Series[]
  band?: [number, number]  // of series, upper and lower, filled between
  height: number
  zero?: boolean           // y begins at 0
  gaps?: boolean           // lines end where there is nothing
  empty?: string           // what is said while there is nothing to draw
  format?: (v: number, step?: number) => string // with the step between ticks, for an axis
}
export interface Chart {
  count: number // of series
  data(columns: (number | null)[][]): void
  close(): void
}

// Steps between the ticks of an axis of games, generations or pairs: there are no halves.
const whole = Array.from({ length: 10 }, (_, e) => [1, 2, 5].map(n => n * 10 ** e)).flat()
// Steps in seconds: ticks have no parts of a second.
const seconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, ...[1, 2, 5, 10, 20, 50, 100].map(d => 86400 * d)]

const color = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

export function chart(root: HTMLElement, o: Options): Chart {
  const holder = h('div', { class: 'chart', role: 'img', 'aria-label': o.label })
  const empty = h('p', { class: 'empty' }, o.empty ?? 'There are no figures yet.')
  root.replaceChildren(holder, empty)
  const show = o.format ?? number, label = o.format ?? tick
  let columns: (number | null)[][] = [[], ...o.series.map(() => [])]
  let plot: uPlot | null = null

  const make = (): void => {
    plot?.destroy()
    holder.hidden = columns[0].length === 0
    empty.hidden = !holder.hidden
    const ink = color('--muted'), line = color('--line')
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: '12px system-ui, sans-serif' }
    plot = new uPlot({
      width: Math.max(240, holder.clientWidth), height: o.height,
      padding: [10, 12, 0, 0],
      cursor: { y: false, drag: { x: false, y: false } },
      legend: { live: true },
      hooks: { setLegend: [rest], setData: [rest] },
      scales: {
        x: { time: !!o.time },
        y: { range: (_u, low, high) => spread(low, high, o.zero ?? false) },
      },
      axes: [
        { ...axis, space: o.time ? 90 : 58, incrs: o.time ? seconds : whole, values: (_u, v) => v.map(x => (o.time ? hours(x, v[v.length - 1] - v[0]) : tick(x))) },
        { ...axis, size: 62, values: (_u, v, _axis, _space, step) => v.map(x => (x === null ? '' : label(x, step))) },
      ],
      series: [
        { label: o.x ?? (o.time ? 'time' : 'x'), value: (_u: uPlot, v: number | null) => (v == null ? '–' : o.time ? hours(v, 0) : number(v)) },
        ...o.series.map(s => ({
          label: s.label, class: s.hidden ? 'quiet' : undefined, stroke: color(s.color), width: s.hidden ? 0 : 1.75, spanGaps: !o.gaps,
          points: { show: s.points ?? false, size: 5, fill: color(s.color) },
          value: (_u: uPlot, v: number | null) => (v == null ? '–' : show(v)),
        })),
      ],
      bands: o.band ? [{ series: o.band, fill: color('--band') }] : undefined,
    }, columns as uPlot.AlignedData, holder)
  }
  make()

  const dark = matchMedia('(prefers-color-scheme: dark)')
  dark.addEventListener('change', make)
  const watcher = new ResizeObserver(() => {
    const width = Math.max(240, holder.clientWidth)
    if (plot && Math.abs(plot.width - width) > 1) plot.setSize({ width, height: o.height })
  })
  watcher.observe(holder)
  return {
    count: o.series.length,
    data(next) {
      const begins = columns[0].length === 0 && next[0].length > 0
      columns = next
      if (begins || next[0].length === 0) make()
      else plot!.setData(columns as uPlot.AlignedData)
    },
    close() {
      watcher.disconnect()
      dark.removeEventListener('change', make)
      plot?.destroy()
    },
  }
}

// rest has the legend say the newest value of each series while there is no pointer.
function rest(u: uPlot): void {
  if (u.cursor.idx == null) u.setLegend({ idxs: u.data.map(values => Array.from(values).findLastIndex(v => v !== null)) }, false)
}

function spread(low: number | null, high: number | null, zero: boolean): [number, number] {
  if (low === null || high === null) return [0, 1]
  if (zero) return [0, Math.max(1, high * 1.1)]
  const room = Math.max((high - low) * 0.08, Math.abs(high) * 0.02) || 1
  return [low - room, high + room]
}

// hours is a time of day; with the day, if the axis spans more than one.
function hours(at: number, span: number): string {
  const d = new Date(1000 * at), two = (n: number): string => String(n).padStart(2, '0')
  const time = `${two(d.getHours())}:${two(d.getMinutes())}`
  if (span > 86400) return `${d.getDate()}. ${time}`
  return span > 1800 ? time : `${time}:${two(d.getSeconds())}`
}
