// Games: the games of the replay buffer, to be replayed.

import { carriedState, get, type Replayed } from './api'
import type { MakeView } from './main'
import { generation, limits, percent, short } from './format'
import { h, set, svg } from './dom'
import { Board } from './board'
import { boards } from './boards'
import { GameList } from './gamelist'
import { button, CopyField, MoveList, numbered, said, Steps } from './gameparts'

export const games: MakeView = root => {
  const list = new GameList()
  const bar = h('div', { class: 'evalbar', role: 'img' }, h('span', {}))
  const board = new Board(bar)
  const now = h('p', { class: 'now', 'aria-live': 'polite' })
  const head = h('div', { class: 'gamehead' })
  const moves = new MoveList(at => goto(at))
  const graph = h('div', { class: 'wins' })
  const fen = new CopyField('FEN', 1), pgn = new CopyField('PGN', 5)
  const steps = new Steps(() => (game ? at : null), to => goto(to), () => { board.flip(); showBar() })
  const stage = h('section', { class: 'card game', 'aria-label': 'Game', tabindex: -1 }, head,
    h('div', { class: 'play' }, board.element),
    now, steps.element, graph)
  const texts = h('section', { class: 'card' }, h('h2', {}, 'Moves'), moves.element, fen.element, pgn.element)
  const empty = h('section', { class: 'card' }, h('p', {}, 'Choose a game from the list.'))
  const right = h('div', { class: 'table' }, empty)
  const live = boards()
  if (!carriedState) root.append(live.element)
  root.append(list.element, right)

  let chosen = '', at = 0
  let game: Replayed | null = null

  // open shows a game, which was at a place; that may be empty.
  async function open(id: string, place: string): Promise<void> {
    chosen = id
    list.choose(id)
    set(empty, h('p', {}, `Game ${id} is looked for.`))
    try {
      const g = await get<Replayed>('games/' + encodeURIComponent(id) + (place && '?at=' + encodeURIComponent(place)))
      if (id !== chosen) return
      game = g
    } catch (e) {
      if (id !== chosen) return
      game = null
      chosen = '' // so that the game can be chosen again
      right.replaceChildren(empty)
      set(empty, h('p', {}, e instanceof Error ? e.message : String(e)),
        !carriedState && button('Look for the game again', 'Try again', () => void open(id, place)))
      return
    }
    right.replaceChildren(stage, texts)
    const side = (i: number): string => `${generation(game!.generations[i])} (${short(game!.nets[i])})`
    set(head, h('h2', {}, `${game.result}, ${game.reason}`),
      h('p', { class: 'words' }, game.nets[0] === game.nets[1] ? `Both sides: ${side(0)}` : `White: ${side(0)}. Black: ${side(1)}`,
        `. ${limits(game.limits)} a move. Game ${game.id}.`))
    pgn.show(game.pgn)
    moves.show(game.positions, 'random, or of the opening')
    draw()
    goto(0)
    if (stage.getBoundingClientRect().top > innerHeight / 2) stage.scrollIntoView() // below the list on a phone
  }

  // draw draws White's expected result by ply.
  function draw(): void {
    const ps = game!.positions, width = 600, height = 90
    const x = (i: number): number => (width * i) / Math.max(1, ps.length - 1)
    const known = ps.map((p, i) => [i, p.win] as const).filter((p): p is readonly [number, number] => p[1] !== null)
    const line = known.map(([i, win]) => `${x(i).toFixed(1)},${(height * (1 - win)).toFixed(1)}`)
    const area = known.length ? `${x(known[0][0]).toFixed(1)},${height} ${line.join(' ')} ${x(known[known.length - 1][0]).toFixed(1)},${height}` : ''
    graph.replaceChildren(
      svg('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': 'White\'s expected result by ply, as the search saw it',
        click: e => {
          const box = (e.currentTarget as Element).getBoundingClientRect()
          goto(Math.round((((e as MouseEvent).clientX - box.left) / box.width) * (ps.length - 1)))
        } },
        known.length > 0 && svg('rect', { x: x(known[0][0]), y: 0, width: x(known[known.length - 1][0]) - x(known[0][0]), height }),
        svg('polygon', { points: area }), svg('line', { class: 'half', x1: 0, x2: width, y1: height / 2, y2: height / 2 }),
        svg('polyline', { points: line.join(' ') }), svg('line', { class: 'cursor', x1: 0, x2: 0, y1: 0, y2: height })),
      h('p', { class: 'hint' }, 'White\'s expected result by ply, as the search saw it. Moves in italics are random or of the opening.'))
  }

  function goto(to: number): void {
    if (!game) return
    const ps = game.positions
    at = Math.min(Math.max(0, to), ps.length - 1)
    const p = ps[at]
    board.show(p.fen, p.uci, p.check)
    fen.show(p.fen)
    set(now, h('b', {}, at === 0 ? 'Start' : numbered(ps[at - 1], p.san)), ` · ${at < ps.length - 1 ? said(p) : game.result}`,
      p.win !== null && at < ps.length - 1 ? ` · White expects ${percent(p.win)}` : '', ` · ply ${at} of ${ps.length - 1}`)
    showBar()
    const cursor = graph.querySelector('.cursor')
    const x = String((600 * at) / Math.max(1, ps.length - 1))
    cursor?.setAttribute('x1', x)
    cursor?.setAttribute('x2', x)
    moves.mark(at)
  }

  function showBar(): void {
    const win = game?.positions[at].win ?? null
    const filled = bar.firstElementChild as HTMLElement
    bar.classList.toggle('turned', board.turned)
    filled.style.height = `${100 * (win ?? 0.5)}%`
    bar.setAttribute('aria-label', win === null ? 'no evaluation' : `White expects ${percent(win)}`)
  }

  return {
    state(s) {
      if (!carriedState) live.state(s)
      list.state(s)
    },
    route(rest) {
      if (rest[0] && rest[0] !== chosen) void open(rest[0], rest[1] ?? '')
    },
    close() { steps.close() },
  }
}
