// Choosing the net of a run from its page, with the token and without.

import { writeFileSync } from 'node:fs'
import { expect, test } from '@playwright/test'
import { accessible } from './axe'
import { run, scratch, serve } from './program'

const home = scratch()
const token = 'a-token-of-this-test'
const controlled = () => serve('dash', home.dir + '/run', '--page-token', home.dir + '/token', '--listen', '127.0.0.1:0')

test.beforeAll(() => {
  writeFileSync(home.dir + '/token', token + '\n', { mode: 0o600 })
  run('--preset', 'tiny', '--dir', home.dir + '/run', '--until-generation', '1')
})
test.afterAll(() => home.remove())

test('a run is rolled back with the token alone', async ({ page }) => {
  const server = await controlled()
  const asked: string[] = []
  page.on('request', r => asked.push(r.url()))
  try {
    await page.goto(server.url + '/#/nets')
    const card = page.locator('.control')
    await expect(card).toBeVisible()
    await accessible(page, 'the card that chooses a net')

    await card.getByLabel('Why').fill('a test')
    await card.getByLabel('Generation to go back to').fill('0')
    await card.getByRole('button', { name: 'Roll back' }).click()
    await expect(card.getByRole('status')).toContainText('found no token or a wrong one')
    await card.getByLabel('Token').fill('another-token-of-a-test')
    await card.getByRole('button', { name: 'Roll back' }).click()
    await expect(card.getByRole('status')).toContainText('found no token or a wrong one')
    await card.getByLabel('Token').fill(token)
    await card.getByRole('button', { name: 'Roll back' }).click()
    await expect(card.getByRole('status')).toContainText('The run plays with no net now')

    expect(asked.filter(url => url.includes(token))).toEqual([])
    expect(await page.evaluate(() => document.documentElement.outerHTML + JSON.stringify([localStorage, sessionStorage]))).not.toContain(token)
  } finally {
    await server.stop()
  }
  expect(run('net', 'history', home.dir + '/run')).toContain('a test')
})

test('an order is given once, however often its button is pressed', async ({ page }) => {
  const server = await controlled()
  const given: string[] = [], first = { net: '', generation: 0 }
  let held: Promise<void> | undefined
  await page.route('**/api/control/*', async route => {
    given.push(route.request().url().split('/').pop()!)
    await held
    await route.fulfill({ json: { was: first, is: first } })
  })
  try {
    await page.goto(server.url + '/#/nets')
    const [promote, back] = ['Promote', 'Roll back'].map(name => page.locator('.control').getByRole('button', { name }))
    await back.dblclick()
    await promote.click()
    await expect.poll(() => given).toEqual(['rollback', 'promote'])

    let answer = (): void => {}
    held = new Promise(go => { answer = go })
    await promote.click()
    await back.focus()
    await page.keyboard.press('Enter')
    await expect(back).toBeDisabled()
    await expect(back).toBeFocused()
    answer()
    await back.click()
    await expect.poll(() => given).toEqual(['rollback', 'promote', 'promote', 'rollback'])
  } finally {
    await server.stop()
  }
})
