// The list of Games: the newest games as they come, or pages of all that are stored, back
// from the newest; and a game by its id.

import { carriedState, get, type GameLine, type Games, type State, type Stored } from './api'
import { count as counted } from './format'
import { h, set } from './dom'
import { button } from './gameparts'

const mostRows = 120

const gens = (g: GameLine): string => {
  const [w, b] = g.generations.map(x => (x > 0 ? String(x) : x === 0 ? 'first' : 'unknown'))
  return w === b ? w : `${w} – ${b}`
}

// address is that of a game, with the place where it is stored, if that is known.
const address = (g: { id: string; place: string }): string => '#/games/' + encodeURIComponent(g.id) + (g.place ? '/' + g.place : '')

export class GameList {
  readonly element: HTMLElement
  private readonly count = h('p', { class: 'words' })
  private readonly unread = h('ul', { class: 'unread', role: 'status' })
  private readonly rows = h('tbody', {})
  private readonly actorHead = h('th', { scope: 'col' }, 'actor')
  private readonly result = h('select', { 'aria-label': 'Result', change: () => this.list() }, h('option', { value: '' }, 'all results'),
    ...['1-0', '0-1', '1/2-1/2'].map(r => h('option', { value: r }, r)))
  private readonly reason = h('select', { 'aria-label': 'End', change: () => this.list() }, h('option', { value: '' }, 'all ends'))
  private readonly hold = h('input', { type: 'checkbox', id: 'hold' })
  private readonly holds = h('label', { for: 'hold' }, this.hold, ' hold the list')
  private readonly all = button('Page through all stored games', 'All stored games', () => void this.page(''))
  private readonly newest = button('The newest games, as they come', 'Newest', () => this.live())
  private readonly newer = button('A page of newer games', '◀ Newer', () => void this.page(this.before[this.before.length - 2], true))
  private readonly older = button('A page of older games', 'Older ▶', () => void this.page(this.shown!.older))
  private readonly segment = h('input', { type: 'number', id: 'segment', min: 1, step: 1, required: true })
  private readonly jump = h('form', { class: 'filters', submit: e => { e.preventDefault(); void this.page(`${Math.trunc(Number(this.segment.value))}.0`) } },
    h('label', { for: 'segment' }, 'Segment'), this.segment, h('button', { type: 'submit' }, 'Go'))
  private readonly id = h('input', { type: 'text', id: 'gameid', autocomplete: 'off', spellcheck: 'false', maxlength: 300, required: true })
  private readonly byID = h('form', { submit: e => { e.preventDefault(); location.hash = address({ id: this.id.value.trim(), place: '' }) } },
    h('label', { for: 'gameid' }, 'Game by its id'), h('div', { class: 'copy' }, this.id, h('button', { type: 'submit' }, 'Open')))

  private games: Games = { games: [], total: 0, published: false }
  private version = -1
  private asked = false
  private paging = false
  private shown: Stored | null = null // the page; null: the newest games
  private before: string[] = []       // where the pages up to this one end
  private chosen = ''

  constructor() {
    const table = h('div', { class: 'scroll tall', tabindex: 0, role: 'region', 'aria-label': 'Games' },
      h('table', { class: 'list' }, h('caption', { class: 'hidden' }, 'Games, the newest first'),
        h('thead', {}, h('tr', {}, ...['generation', 'result', 'plies', 'end'].map(t => h('th', { scope: 'col' }, t)), this.actorHead)), this.rows))
    const pager = h('div', { class: 'buttons wide' }, this.all, this.newest, this.newer, this.older)
    this.element = h('section', { class: 'card games' }, h('h2', {}, 'Games'), this.count, this.unread,
      h('div', { class: 'filters' }, this.result, this.reason, this.holds), table)
    if (!carriedState) this.element.append(pager, this.jump, this.byID)
    this.list()
  }

  state(s: State): void {
    if (!this.asked && s.versions.games !== this.version && !(this.hold.checked && this.version >= 0)) void this.load(s)
  }

  // choose marks a game of the list.
  choose(id: string): void {
    this.chosen = id
    this.list()
  }

  private async load(s: State): Promise<void> {
    this.asked = true
    try {
      this.games = await get<Games>('games')
      this.version = s.versions.games
      if (!this.shown) this.renew()
    } catch (e) {
      set(this.count, String(e))
    } finally {
      this.asked = false
    }
  }

  private live(): void {
    this.shown = null
    this.before = []
    this.renew()
  }

  // page shows the games stored before a place, which is empty for the newest page.
  private async page(before: string, back = false): Promise<void> {
    if (this.paging) return
    this.paging = true
    try {
      const p = await get<Stored>('stored?before=' + encodeURIComponent(before))
      if (back) this.before.pop()
      else if (before === '' || before.endsWith('.0')) this.before = [before]
      else this.before.push(before)
      this.shown = p
      this.segment.max = String(p.last)
      this.segment.min = String(p.first)
      this.renew()
      this.element.querySelector('.scroll')!.scrollTop = 0
    } catch (e) {
      set(this.unread, h('li', {}, e instanceof Error ? e.message : String(e)))
    } finally {
      this.paging = false
    }
  }

  // renew shows other games than before.
  private renew(): void {
    const found = [...new Set((this.shown ?? this.games).games.map(g => g.reason))].sort(), value = this.reason.value
    set(this.reason, h('option', { value: '' }, 'all ends'), ...found.map(r => h('option', { value: r }, r)))
    this.reason.value = found.includes(value) ? value : ''
    set(this.unread, ...(this.shown?.damage ?? []).map(d => h('li', {}, d)))
    this.list()
  }

  private list(): void {
    const p = this.shown, known = (p ?? this.games).games
    const fit = known.filter(g => (!this.result.value || g.result === this.result.value) && (!this.reason.value || g.reason === this.reason.value))
    this.holds.hidden = p !== null
    this.all.hidden = p !== null
    this.newest.hidden = this.newer.hidden = this.older.hidden = this.jump.hidden = p === null
    this.newer.disabled = this.before.length < 2
    this.older.disabled = !p?.older
    this.actorHead.hidden = known.every(g => g.actor === known[0].actor)
    if (p || this.version >= 0) set(this.count, p ? this.pageWords(p, fit.length) : this.liveWords(fit.length))
    set(this.rows, ...fit.slice(0, mostRows).map(g => h('tr', { class: g.id === this.chosen ? 'chosen' : '' },
      h('td', {}, h('a', { href: address(g), 'aria-label': `Game of generation ${gens(g)}, ${g.result}, ${g.plies} plies, ${g.reason}` }, gens(g))),
      h('td', {}, g.result === '1/2-1/2' ? '½-½' : g.result), h('td', {}, g.plies), h('td', {}, g.reason), !this.actorHead.hidden && h('td', {}, g.actor || '–'))))
  }

  private liveWords(fit: number): string {
    const g = this.games, n = g.games.length
    if (n === 0 && g.total === 0) {
      return g.published ? 'No game has been published since this page is served; those stored before are below.' : 'No games are stored yet.'
    }
    return `${counted(g.total, 'game was', 'games were')} ${g.published ? 'published since this page is served' : 'stored'}; the newest ${n} as they come` +
      (fit < n ? `, ${fit} of them fit.` : fit > mostRows ? `, ${mostRows} of them listed.` : '.')
  }

  private pageWords(p: Stored, fit: number): string {
    const n = p.games.length
    if (n === 0) return p.last === 0 ? 'No games are stored.' : 'No game is stored before this place.'
    const [from, to] = [p.games[n - 1], p.games[0]].map(g => g.place.split('.')[0])
    return `${counted(n, 'game', 'games')} of ${from === to ? `segment ${to}` : `segments ${from} and ${to}`}; stored are segments ${p.first} to ${p.last}, the newest last` +
      (fit < n ? `. ${fit} of the games fit.` : '.')
  }
}
