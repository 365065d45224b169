// Play: a person against the run's newest net.

import { ask, get, type Level, type Opponent, type Reply, type State, type Table } from './api'
import type { MakeView } from './main'
import { h, set } from './dom'
import { number, percent, sentence } from './format'
import { button, CopyField, MoveList, numbered, Steps } from './gameparts'
import { PlayBoard } from './playboard'

type Side = 'white' | 'black'

const nodeChoices = [400, 2000, 10000, 50000, 200000]
const usualLevel = 'nodes 10000'

// The game that is played. It stays while other views are looked at.
const game = {
  fen: '', moves: [] as string[], person: 'white' as Side, level: usualLevel,
  seed: crypto.getRandomValues(new Uint32Array(1))[0],
}

const toMove = (t: Table): Side => (t.positions[t.positions.length - 1].fen.split(' ')[1] === 'b' ? 'black' : 'white')

export const play: MakeView = root => {
  const who = h('p', { class: 'words' })
  const now = h('p', { class: 'now', 'aria-live': 'polite' })
  const failed = h('p', { class: 'failed', role: 'alert', hidden: true })
  const board = new PlayBoard('Board: arrow keys go to a square, Enter chooses it', uci => void load({ move: uci }), text => set(now, text))
  const moves = new MoveList(at => goto(at))
  const fen = new CopyField('FEN', 1), pgn = new CopyField('PGN', 5)
  const level = h('select', { id: 'level', change: () => { game.level = level.value } })
  const typed = h('input', { type: 'text', id: 'typed', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', maxlength: 100 })
  const form = h('form', { class: 'typed', submit: e => { e.preventDefault(); if (!typed.readOnly && typed.value.trim()) void load({ move: typed.value.trim() }) } },
    h('label', { for: 'typed' }, 'Move, such as Nf3, N@f3 or g1f3'), h('div', { class: 'copy' }, typed, h('button', { type: 'submit' }, 'Move')))
  const look = h('a', { href: '#/analyse' }, 'Analyse this position')
  const back = button('Take back your last move', 'Take back', () => takeBack())
  const stop = button('Have the net stop', 'Stop', () => { cancel(); draw() })
  const again = button('Ask the net for its move again', 'Ask the net', () => void reply())
  const steps = new Steps(() => (table ? at : null), to => goto(to), () => board.flip())
  const fresh = (side: Side) => (): void => {
    Object.assign(game, { fen: '', moves: [], person: side, seed: crypto.getRandomValues(new Uint32Array(1))[0] })
    begin()
  }
  root.append(h('div', { class: 'table' },
    h('section', { class: 'card game', 'aria-label': 'Game' }, h('h2', {}, 'Play'), who,
      board.element, now, failed, form,
      h('div', { class: 'buttons wide' }, back, stop, again), steps.element),
    h('div', {},
      h('section', { class: 'card' }, h('h2', {}, 'New game'),
        h('p', {}, h('label', { for: 'level' }, 'Strength'), ' ', level),
        h('p', { class: 'hint' }, 'Elo is that of the ladder, measured with the built-in net; 0 is material counting with 400 nodes a move.'),
        h('div', { class: 'buttons wide' }, button('New game as White', 'As White', fresh('white')), button('New game as Black', 'As Black', fresh('black'))),
        h('p', { class: 'hint' }, 'Drag a piece, from the hand too, or click it and then its square. With keys: arrows go over the board, Enter chooses; ' +
          'P, N, B, R, Q on the board take a piece from the hand; Escape lets go.')),
      h('section', { class: 'card' }, h('h2', {}, 'Moves'), moves.element, fen.element, pgn.element, h('p', {}, look)))))

  let opponent: Opponent | null = null
  let table: Table | null = null
  let at = 0
  let asking: AbortController | null = null // what the server is asked

  const strength = (): Level => {
    const [kind, value] = game.level.split(' ')
    return kind === 'elo' ? { elo: Number(value), seed: game.seed } : { nodes: Number(value) }
  }

  function cancel(): void {
    asking?.abort()
    asking = null
  }

  // question sends one, in place of that which is still open. It returns null if it was
  // taken back itself.
  async function question<T>(path: string, more: { moves?: string[]; move?: string }): Promise<T | null> {
    cancel()
    const own = asking = new AbortController()
    failed.hidden = true
    draw()
    try {
      return await ask<T>(path, { fen: game.fen, moves: game.moves, level: strength(), person: game.person, ...more }, own.signal)
    } catch (e) {
      if (!own.signal.aborted) {
        set(failed, e instanceof Error ? e.message : String(e))
        failed.hidden = false
      }
      return null
    } finally {
      if (asking === own) asking = null
      draw()
    }
  }

  // load asks how the game stands with another move or other moves, and has the net move
  // if it is its turn.
  async function load(more: { moves?: string[]; move?: string }): Promise<void> {
    if (more.move && (asking || !table || toMove(table) !== game.person)) return
    const t = await question<Table>('position', more)
    if (!t) return
    typed.value = ''
    take(t)
    if (t.result === '*' && toMove(t) !== game.person) await reply()
  }

  async function reply(): Promise<void> {
    const r = await question<Reply>('move', {})
    if (!r) return
    take(r.table)
    const ps = r.table.positions
    set(now, `${sentence(r.opponent)} plays `, h('b', {}, numbered(ps[ps.length - 2], r.san)),
      r.place.win === null ? '' : ` · White expects ${percent(r.place.win)}`, ` · depth ${r.depth}, ${number(r.nodes)} nodes`, r.table.end && ` · ${r.table.end}, ${r.table.result}`)
  }

  function take(t: Table): void {
    table = t
    game.moves = t.positions.slice(1).map(p => p.uci)
    moves.show(t.positions)
    pgn.show(t.pgn)
    goto(Infinity)
    if (t.end) set(now, h('b', {}, `${t.end}, ${t.result}`))
    else if (game.moves.length === 0) set(now, 'The game begins.')
    else set(now, 'Played ', h('b', {}, numbered(t.positions[at - 1], t.positions[at].san)))
  }

  function takeBack(): void {
    if (!table) return
    cancel()
    const own = (ply: number): boolean => (table!.positions[ply].fen.split(' ')[1] === 'b' ? 'black' : 'white') === game.person
    let plies = game.moves.length - 1
    while (plies >= 0 && !own(plies)) plies--
    if (plies >= 0) void load({ moves: game.moves.slice(0, plies) })
  }

  function goto(to: number): void {
    if (!table) return
    at = Math.min(Math.max(0, to), table.positions.length - 1)
    const p = table.positions[at]
    board.show(p.fen, p.uci, p.check)
    fen.show(p.fen)
    look.setAttribute('href', '#/analyse/' + encodeURIComponent(p.fen))
    moves.mark(at)
    draw()
  }

  // draw shows whose turn it is and what can be done.
  function draw(): void {
    const due = table?.result === '*' ? toMove(table) : null
    const mine = due === game.person && !asking && at === table!.positions.length - 1
    board.allow(mine ? table!.legal.map(m => m.uci) : [])
    back.disabled = !table || !table.positions.slice(0, -1).some(p => (p.fen.split(' ')[1] === 'b') === (game.person === 'black'))
    stop.hidden = !asking || due === game.person
    again.hidden = !!asking || due === null || due === game.person
    typed.readOnly = !mine // disabled, it would lose the focus
    set(who, `You play ${game.person} against ${opponent?.name ?? 'the net'}. `,
      due === null ? '' : asking && due !== game.person ? 'It thinks.' : due === game.person ? 'It is your turn.' : 'It is the net\'s turn.')
  }

  function begin(): void {
    if (board.turned !== (game.person === 'black')) board.flip()
    void load({})
  }

  async function meet(): Promise<void> {
    try {
      opponent = await get<Opponent>('opponent')
    } catch (e) {
      set(failed, String(e))
      failed.hidden = false
      return
    }
    const most = opponent.nodes
    level.replaceChildren(
      h('optgroup', { label: `Full strength, at most ${opponent.seconds} s a move` },
        ...nodeChoices.filter(n => n <= most).map(n => h('option', { value: `nodes ${n}` }, `${n.toLocaleString('en')} nodes`))),
      h('optgroup', { label: 'Weaker' }, ...opponent.elo.map((e, i) => h('option', { value: `elo ${e}` }, `level ${i}, Elo ${e}`))))
    level.value = game.level
    draw()
  }

  let net = ''
  void meet()
  return {
    state(s: State) { // a new net may have come
      const now = s.stages.find(x => x.id === 'net')?.figures[0]?.text ?? ''
      if (net && now !== net) void meet()
      net = now
    },
    route(rest) {
      if (rest[0]) { // a position to begin from: the person moves first
        Object.assign(game, { fen: rest[0], moves: [], person: rest[0].split(' ')[1] === 'b' ? 'black' : 'white' })
        history.replaceState(null, '', '#/play')
      }
      begin()
    },
    close() {
      cancel()
      steps.close()
    },
  }
}
