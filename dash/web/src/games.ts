// Games: the newest games of the replay buffer, to be replayed.

import { carriedState, get, type GameLine, type Games, type Replayed, type State } from './api'
import type { MakeView } from './main'
import { count as counted, generation, percent, short } from './format'
import { h, set, svg } from './dom'
import { Board } from './board'
import { boards } from './boards'
import { CopyField, MoveList, numbered, said, Steps } from './gameparts'

const mostRows = 120

const gens = (g: GameLine): string => {
  const [w, b] = g.generations.map(x => (x > 0 ? String(x) : 'first'))
  return w === b ? w : `${w} – ${b}`
}

export const games: MakeView = root => {
  const count = h('p', { class: 'words' })
  const rows = h('tbody', {})
  const result = h('select', { 'aria-label': 'Result', change: () => list() }, h('option', { value: '' }, 'all results'),
    ...['1-0', '0-1', '1/2-1/2'].map(r => h('option', { value: r }, r)))
  const reason = h('select', { 'aria-label': 'End', change: () => list() }, h('option', { value: '' }, 'all ends'))
  const hold = h('input', { type: 'checkbox', id: 'hold' })
  const table = h('div', { class: 'scroll tall', tabindex: 0, role: 'region', 'aria-label': 'Newest games' },
    h('table', { class: 'list' }, h('caption', { class: 'hidden' }, 'The newest games'),
      h('thead', {}, h('tr', {}, ...['generation', 'result', 'plies', 'end'].map(t => h('th', { scope: 'col' }, t)))), rows))

  const board = new Board()
  const bar = h('div', { class: 'evalbar', role: 'img' }, h('span', {}))
  const now = h('p', { class: 'now', 'aria-live': 'polite' })
  const head = h('div', { class: 'gamehead' })
  const moves = new MoveList(at => goto(at))
  const graph = h('div', { class: 'wins' })
  const fen = new CopyField('FEN', 1), pgn = new CopyField('PGN', 5)
  const steps = new Steps(() => (game ? at : null), to => goto(to), () => { board.flip(); showBar() })
  const stage = h('section', { class: 'card game', 'aria-label': 'Game', tabindex: -1 }, head,
    h('div', { class: 'play' }, bar, board.element),
    now, steps.element, graph)
  const texts = h('section', { class: 'card' }, h('h2', {}, 'Moves'), moves.element, fen.element, pgn.element)
  const empty = h('section', { class: 'card' }, h('p', {}, 'Choose a game from the list.'))
  const right = h('div', { class: 'table' }, empty)
  const live = boards()
  if (!carriedState) root.append(live.element)
  root.append(h('section', { class: 'card games' }, h('h2', {}, 'Games'), count,
    h('div', { class: 'filters' }, result, reason, h('label', { for: 'hold' }, hold, ' hold the list')), table), right)

  let all: Games = { games: [], total: 0, published: false }
  let chosen = '', at = 0
  let game: Replayed | null = null
  let version = -1, asked = false

  function list(): void {
    const fit = all.games.filter(g => (!result.value || g.result === result.value) && (!reason.value || g.reason === reason.value))
    if (all.games.length === 0 && all.total === 0) set(count, all.published ? 'No game has been published since this page is served. Games before that are where the replay buffer is.' : 'No games are stored yet.')
    else set(count, `${counted(all.total, 'game was', 'games were')} ${all.published ? 'published since this page is served' : 'stored'}; the newest ${all.games.length} can be replayed` +
      (fit.length < all.games.length ? `, ${fit.length} of them fit.` : fit.length > mostRows ? `, ${mostRows} are listed.` : '.'))
    set(rows, ...fit.slice(0, mostRows).map(g => h('tr', { class: g.id === chosen ? 'chosen' : '' },
      h('td', {}, h('a', { href: '#/games/' + encodeURIComponent(g.id), 'aria-label': `Game of generation ${gens(g)}, ${g.result}, ${g.plies} plies, ${g.reason}` }, gens(g))),
      h('td', {}, g.result), h('td', {}, g.plies), h('td', {}, g.reason))))
  }

  function ends(): void {
    const found = [...new Set(all.games.map(g => g.reason))].sort()
    const value = reason.value
    set(reason, h('option', { value: '' }, 'all ends'), ...found.map(r => h('option', { value: r }, r)))
    reason.value = found.includes(value) ? value : ''
  }

  async function load(s: State): Promise<void> {
    asked = true
    try {
      all = await get<Games>('games')
      version = s.versions.games
      ends()
      list()
    } catch (e) {
      set(count, String(e))
    } finally {
      asked = false
    }
  }

  async function open(id: string): Promise<void> {
    chosen = id
    list()
    try {
      const g = await get<Replayed>('games/' + encodeURIComponent(id))
      if (id !== chosen) return
      game = g
    } catch (e) {
      game = null
      right.replaceChildren(empty)
      set(empty, h('p', {}, e instanceof Error ? e.message : String(e)))
      return
    }
    right.replaceChildren(stage, texts)
    const side = (i: number): string => `${generation(game!.generations[i])} (${short(game!.nets[i])})`
    set(head, h('h2', {}, `${game.result}, ${game.reason}`),
      h('p', { class: 'words' }, game.nets[0] === game.nets[1] ? `Both sides: ${side(0)}` : `White: ${side(0)}. Black: ${side(1)}`,
        `. ${game.limits} a move. Game ${game.id}.`))
    pgn.show(game.pgn)
    moves.show(game.positions, 'random, or of the opening')
    draw()
    goto(0)
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
      if (!asked && s.versions.games !== version && !(hold.checked && version >= 0)) void load(s)
    },
    route(rest) {
      if (rest[0] && rest[0] !== chosen) void open(rest[0])
    },
    close() { steps.close() },
  }
}
