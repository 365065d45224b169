// Choosing the net that the run plays with, for who has the token. The token stays in its
// field: it is in no address and in nothing that the page keeps.

import { h, set } from './dom'
import { short } from './format'

interface Chosen { net: string; generation: number }

const name = (c: Chosen): string => (c.net === '' ? 'no net' : `generation ${c.generation} (${short(c.net)})`)

export function control(): HTMLElement {
  const field = (id: string, type: string, words: string): [HTMLElement, HTMLInputElement] => {
    const input = h('input', { id, type, autocomplete: 'off', spellcheck: 'false' })
    return [h('p', { class: 'field' }, h('label', { for: id }, words), input), input]
  }
  const [tokenRow, token] = field('token', 'password', 'Token')
  const [whyRow, why] = field('why', 'text', 'Why, for the run’s history')
  const [netRow, net] = field('promote', 'text', 'Net to promote: its id, or the first 8 digits')
  const [backRow, back] = field('rollback', 'number', 'Generation to go back to; empty: the one before, 0: before the first net')
  const said = h('p', { role: 'status' })
  const press = (text: string, order: () => [string, object]): HTMLButtonElement =>
    h('button', { type: 'button', click: e => { if ((e as MouseEvent).detail < 2) void send(...order()) } }, text) // the second click of two is none
  const buttons = [
    press('Promote', () => ['promote', { net: net.value.trim() }]),
    press('Roll back', () => ['rollback', { generation: back.value === '' ? null : Number(back.value) }]),
  ]

  // send sends an order, unless one is under way. The buttons keep the focus meanwhile,
  // which they would lose if they were disabled.
  let waiting = false
  async function send(what: string, order: object): Promise<void> {
    if (waiting) return
    const wait = (on: boolean): void => {
      waiting = on
      buttons.forEach(b => b.setAttribute('aria-disabled', String(on)))
    }
    wait(true)
    set(said, 'Waiting for the run.')
    try {
      const response = await fetch('api/control/' + what, {
        method: 'POST', cache: 'no-store', body: JSON.stringify({ why: why.value, ...order }),
        headers: { 'Content-Type': 'application/json', Authorization: 'Bearer ' + token.value },
      })
      const data = await response.json()
      set(said, response.ok ? `The run plays with ${name(data.is)} now, in the place of ${name(data.was)}.` : data.error)
    } catch (e) {
      set(said, e instanceof Error ? e.message : String(e))
    }
    wait(false)
  }

  return h('section', { class: 'card control', hidden: true }, h('h2', {}, 'Choose the net'), tokenRow, whyRow, netRow, buttons[0], backRow, buttons[1], said)
}
