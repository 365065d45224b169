// Actors: who plays and works for the run, heartbeats, rates, versions, refused games.

import type { Actors, Member } from './api'
import type { MakeView } from './main'
import { count, day, duration, generation, number, short } from './format'
import { h, set, table } from './dom'
import { latest } from './latest'

const lateAfter = 20 // seconds: two heartbeats

const ago = (from: string, now: string): number => Math.max(0, (Date.parse(now) - Date.parse(from)) / 1000)
const rate = (r: number): string => (r > 0 ? number(r) : '–')
const net = (id: string, g: number): string => (g > 0 ? generation(g) : short(id))

function heartbeat(m: Member, now: string): HTMLElement {
  const s = ago(m.seen, now)
  return h('span', { class: 'verdict ' + (s > lateAfter ? 'failed' : 'passed') }, `${duration(s)} ago`, s > lateAfter ? ', late' : '')
}

function build(of: string, run: string): HTMLElement {
  return h('span', {}, h('code', {}, of || '–'), run && of && of !== run ? h('span', { class: 'verdict failed' }, 'not the run’s') : null)
}

export const actors: MakeView = root => {
  const words = h('p', { class: 'words' })
  const members = h('div', {}), played = h('div', {}), refused = h('div', {})
  const problem = h('p', { class: 'findings', role: 'status' })
  root.append(
    h('section', { class: 'card' }, h('h2', {}, 'Processes'), words, problem, members),
    h('section', { class: 'card' }, h('h2', {}, 'Actors by their stored games'), played),
    h('section', { class: 'card' }, h('h2', {}, 'Refused games'), refused))

  function show(a: Actors): void {
    problem.hidden = a.problem === ''
    set(problem, `The servers do not answer: ${a.problem}`)
    set(words, a.members === null
      ? a.problem ? '' : 'Processes and their heartbeats are known to the run’s servers, which this page does not ask: it sees the files of the run only.'
      : `${count(a.present, 'process announces itself', 'processes announce themselves')}, every ten seconds. ${a.present > a.members.length
        ? `${count(a.present - a.members.length, 'process is', 'processes are')} left out of the list, actors first. ` : ''}The run was begun by build ${a.build || 'unknown'}.`)
    set(members, a.members === null || a.members.length === 0 ? null : table('Processes of the run',
      ['role', 'name', 'heartbeat', 'up', 'games', 'games/s', 'kept', 'net', 'build', 'host', 'state'],
      a.members.map(m => [
        m.role, h('code', { title: m.instance }, m.instance.slice(0, 8)), heartbeat(m, a.time), duration(ago(m.since, a.time)),
        number(m.games), rate(m.rate), number(m.waiting), net(m.net, m.generation), build(m.build, a.build), `${m.host}, ${m.pid}`,
        h('span', {}, m.state, m.failed ? h('span', { class: 'verdict failed' }, `cannot load net ${m.failed}`) : null),
      ])))
    set(played, a.actors.length === 0 ? h('p', {}, 'No games are stored yet.') : table(`Of ${count(a.counted, 'game', 'games')}, by the actor that their ids name`,
      ['actor', 'games', 'share', 'games/s', 'newest game', 'net', 'build', 'refused'],
      a.actors.map(l => [l.name, number(l.games), `${((100 * l.games) / Math.max(1, a.counted)).toFixed(1)} %`, rate(l.rate),
        l.seen ? `${duration(ago(l.seen, a.time))} ago` : 'before this page', net(l.net, l.generation), build(l.build, a.build), number(l.refused)])))
    set(refused, a.refused.length === 0 ? h('p', {}, 'None is kept.') : table('The newest games in quarantine, the newest first', ['time', 'actor', 'reason'],
      a.refused.map(r => [h('time', { datetime: r.time }, day(r.time)), r.actor || 'unknown', r.reason])))
  }

  return {
    state: latest<Actors>('actors', show, why => set(words, why)),
    route() {},
    close() {},
  }
}
