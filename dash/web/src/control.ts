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

  async function send(what: string, order: object): Promise<void> {
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
  }

  return h('section', { class: 'card control', hidden: true }, h('h2', {}, 'Choose the net'), tokenRow, whyRow, netRow,
    h('button', { type: 'button', click: () => void send('promote', { net: net.value.trim() }) }, 'Promote'), backRow,
    h('button', { type: 'button', click: () => void send('rollback', { generation: back.value === '' ? null : Number(back.value) }) }, 'Roll back'), said)
}
