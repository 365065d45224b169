// Strength against fixed opponents, as the command ladder has measured it, beside the sum of
// the gate's matches.

import type { Learning, RatedNet } from './api'
import { chart, type Chart } from './chart'
import { count, day, known, limits, number, percent, signed } from './format'
import { fold, h, set, table } from './dom'
import { CopyField } from './gameparts'

const shownRows = 40

export type X = 'games' | 'time' | 'generation'

// at is where a net stands on the horizontal axis; null: not known.
export function at(x: X, n: { time: string; games: number | null; generation: number }): number | null {
  if (x !== 'time') return n[x]
  return known(n.time) ? Date.parse(n.time) / 1000 : null
}

const rated = (n: RatedNet): { time: string; games: number; generation: number } => ({ time: n.offered, games: n.stored, generation: n.generation })

export class LadderCard {
  readonly element: HTMLElement
  private readonly words = h('p', { class: 'words' })
  private readonly holder = h('div', {})
  private readonly rows = fold('As a table')
  private readonly command = new CopyField('Command', 1)
  private readonly beside = h('input', { type: 'checkbox', id: 'beside' })
  private readonly choice = h('p', { class: 'filters' }, h('label', { for: 'beside' }, this.beside, ' with the sum of the gate\'s matches'))
  private plot: Chart | null = null

  // changed is called when a person has chosen what is drawn.
  constructor(changed: () => void) {
    this.beside.addEventListener('change', changed)
    this.element = h('section', { class: 'card' }, h('h2', {}, 'Strength against fixed opponents'), this.words, this.holder, this.choice, this.rows.element, this.command.element)
  }

  close(): void { this.plot?.close() }

  remake(x: X): void {
    this.close()
    this.plot = chart(this.holder, {
      label: 'Elo against fixed opponents with its 95 % interval' + (this.beside.checked ? ', and the sum of Elo by the gate' : ''), time: x === 'time', x: x === 'games' ? 'games stored' : x,
      height: 280, format: v => signed(v), band: [2, 3], empty: '', series: [
        { label: 'Elo', color: '--c1', points: true }, { label: 'upper', color: '--c1', hidden: true }, { label: 'lower', color: '--c1', hidden: true },
        ...(this.beside.checked ? [{ label: 'sum of the gate', color: '--c2', points: true }] : [])],
    })
  }

  // draw draws the ratings and, if that is chosen, the gate's sums, which are those of its own
  // curve.
  draw(l: Learning, x: X, gate: { x: number; sum: number }[]): void {
    const columns = new Map<number, (number | null)[]>()
    for (const g of this.beside.checked ? gate : []) columns.set(g.x, [null, null, null, g.sum])
    for (const n of l.ladder.nets) {
      const place = at(x, rated(n))
      if (place !== null) columns.set(place, [n.elo, n.high, n.low, columns.get(place)?.[3] ?? null])
    }
    const xs = [...columns.keys()].sort((a, b) => a - b)
    this.plot?.data([xs, ...(this.beside.checked ? [0, 1, 2, 3] : [0, 1, 2]).map(i => xs.map(v => columns.get(v)![i]))])
  }

  show(l: Learning): void {
    const nets = l.ladder.nets, newest = nets[nets.length - 1]
    this.holder.hidden = this.choice.hidden = nets.length === 0
    if (newest) {
      const opponents = newest.scores.map(s => `${s.opponent} (${number(s.elo)})`).join(', ')
      set(this.words, `Generation ${newest.generation}: ${signed(newest.elo)} ± ${((newest.high - newest.low) / 2).toFixed(0)} Elo by ${count(newest.games, 'game', 'games')} (${limits(newest.limits)} a move) against ${opponents}, whose ratings are in brackets and stay. `,
        'The band is the 95 % interval of each net. The sum of the gate\'s matches counts from the run\'s first player, on another scale. ',
        l.ladder.others > 0 ? `${count(l.ladder.others, 'rating', 'ratings')} by other opponents or rules cannot be compared and are left out. ` : '',
        l.ladder.command ? 'This command rates the nets that came since:' : '')
    } else {
      set(this.words, 'No net of this run has been rated against fixed opponents. ', l.ladder.command
        ? 'This command does it, while the run goes on or later; without Fairy-Stockfish (--engine) the opponent is the search without a net:'
        : l.ladder.no_command === 'opponents'
        ? 'The program\'s opponents play crazyhouse; selfplay ladder DIR --history --config FILE rates by others.'
        : 'selfplay ladder DIR --history does it in a directory that has the run\'s nets, and selfplay dash DIR there draws them.')
    }
    this.command.element.hidden = !l.ladder.command
    this.command.show(l.ladder.command)
    this.rows.show(newest ? table('Nets by their ratings, the newest first', ['offered', 'generation', 'games stored', 'Elo', 'games', 'score against each'],
      [...nets].reverse().slice(0, shownRows).map(n => [day(n.offered), n.generation, number(n.stored), `${signed(n.elo)} ± ${((n.high - n.low) / 2).toFixed(0)}`, number(n.games),
        n.scores.map(s => `${s.opponent} ${percent(s.score)}`).join(', ')])) : null)
  }
}
