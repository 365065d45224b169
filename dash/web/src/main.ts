// The page: its head, which view is shown, and the stream of states.

import 'uplot/dist/uPlot.min.css'
import './play.css'
import { carriedState, type State } from './api'
import { day, duration } from './format'
import { h, set } from './dom'
import { overview } from './overview'
import { learning } from './learning'
import { games } from './games'
import { nets } from './nets'
import { actors } from './actors'
import { play } from './play'
import { compare } from './compare'
import { analyse } from './analyse'

// A View shows itself in an element, and is told of every state and of changes of the
// address after its own name.
export interface View {
  state(s: State): void
  route(rest: string[]): void
  close(): void
}
export type MakeView = (root: HTMLElement) => View

const all: { name: string; title: string; make: MakeView; served?: boolean }[] = [
  { name: '', title: 'Overview', make: overview },
  { name: 'learning', title: 'Learning', make: learning },
  { name: 'games', title: 'Games', make: games },
  { name: 'nets', title: 'Nets', make: nets },
  { name: 'actors', title: 'Actors', make: actors },
  { name: 'play', title: 'Play', make: play, served: true },
  { name: 'analyse', title: 'Analyse', make: analyse, served: true },
]
// A report has no server, without which views marked as served have nothing to show.
const ofRun = all.filter(v => !(v.served && carriedState))
const ofComparison: typeof all = [{ name: '', title: 'Compare', make: compare }]
let views = ofRun

const top = document.getElementById('top')!
const main = document.getElementById('main')!
const name = h('h1', {}, 'selfplay')
const about = h('p', { class: 'about' })
// What is said aloud is said once: the time that passes is beside it.
const word = h('span', { role: 'status' }, 'connecting'), passed = h('span', {})
const alive = h('p', { class: 'alive' }, word, passed)
let links: HTMLElement[] = []
const nav = h('nav', { 'aria-label': 'Views' })
top.append(h('div', { class: 'title' }, name, about, alive), nav)

// offer shows the links to some views.
function offer(some: typeof all): void {
  views = some
  links = views.map(v => h('a', { href: '#/' + v.name }, v.title))
  nav.replaceChildren(...links)
  shown = -1
}

let shown = -1
let view: View | null = null
let last: State | null = null

function route(): void {
  if (location.hash === '#main' && shown >= 0) return
  const [first, ...rest] = location.hash.replace(/^#\/?/, '').split('/').map(part => {
    try {
      return decodeURIComponent(part)
    } catch {
      return part // an address typed by hand
    }
  })
  const at = Math.max(0, views.findIndex(v => v.name === (first ?? '')))
  if (at !== shown) {
    view?.close()
    shown = at
    const root = h('div', { class: 'view view-' + (views[at].name || 'overview') })
    main.replaceChildren(root)
    links.forEach((l, i) => (i === at ? l.setAttribute('aria-current', 'page') : l.removeAttribute('aria-current')))
    view = views[at].make(root)
    if (last) view.state(last)
  }
  view!.route(rest)
  title()
}

function title(): void {
  document.title = `${views[shown].title} – ${last?.run.name ?? 'selfplay'}`
}

function show(s: State): void {
  const other = last !== null && last.watch !== s.watch // another server, or the same one begun anew
  last = s
  set(name, s.run.name)
  set(about, [s.run.variant, s.run.kind && s.run.kind + ' nets', s.run.preset && 'preset ' + s.run.preset].filter(Boolean).join(' · '))
  set(word, s.comparison ? (s.stopped ? 'over' : 'under way, or interrupted') : carriedState ? `report of ${day(s.time)}` : s.live ? 'running' : s.stopped ? 'stopped' : s.servers ? 'watched through its servers' : 'watched through its files')
  set(passed, s.live && ` for ${duration(s.elapsed_s)}`)
  alive.className = 'alive ' + (s.live ? 'on' : 'off')
  const offered = s.comparison ? ofComparison : ofRun
  if (other || views !== offered) { // all that is shown is made anew
    offer(offered)
    route()
  } else {
    title()
    view?.state(s)
  }
}

let source: EventSource | null = null
let failures = 0, again = 0

function disconnect(): void {
  clearTimeout(again)
  source?.close()
}

// connect follows the states while the page is seen: a browser makes few connections to a
// server, and all its tabs share them.
function connect(): void {
  disconnect()
  if (document.hidden) return
  source = new EventSource('api/stream')
  source.addEventListener('state', e => {
    failures = 0
    show(JSON.parse((e as MessageEvent).data) as State)
  })
  source.onerror = () => {
    disconnect()
    failures++
    set(word, 'no answer from the server; trying again')
    set(passed)
    alive.className = 'alive lost'
    again = setTimeout(connect, Math.min(1000 * 2 ** failures, 15000))
  }
}

addEventListener('hashchange', route)
offer(views)
route()
if (carriedState) {
  show(carriedState)
} else {
  document.addEventListener('visibilitychange', connect)
  addEventListener('pagehide', disconnect)
  addEventListener('pageshow', e => e.persisted && connect()) // the browser has kept the page
  connect()
}
