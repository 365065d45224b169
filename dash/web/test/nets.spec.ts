// Nets: the integer nets against the float nets, and the lineage as nets come.

import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test, type Page } from '@playwright/test'
import { fixedRun, scratch, serve } from './program'

const home = scratch()
test.afterAll(() => home.remove())

const card = (page: Page) => page.locator('section').filter({ hasText: 'Integer net against float net' })
const lastCells = (page: Page) => page.getByRole('region', { name: 'Nets, the newest first' }).locator('td:last-child')

test('differences that nobody measured are not drawn', async ({ page }) => {
  const server = await serve('dash', fixedRun(home.dir), '--listen', '127.0.0.1:0')
  let from = 1 // the newest net is not measured, then none is
  await page.route('**/api/nets', async route => {
    const response = await route.fetch(), nets = await response.json()
    nets.list.slice(0, from).forEach((n: { export_mean_raw: number; export_max_raw: number }) => { n.export_mean_raw = n.export_max_raw = 0 })
    await route.fulfill({ response, json: nets })
  })
  try {
    await page.goto(server.url + '/#/nets')
    await expect(card(page).locator('.u-legend')).toContainText(/generation\s*3/) // the newest of the curve
    await expect(lastCells(page)).toHaveText(['–', /at most/, /at most/, /at most/])
    from = 4
    await page.reload()
    await expect(card(page)).toContainText('There are no figures yet.')
  } finally {
    await page.unrouteAll({ behavior: 'ignoreErrors' }) // an answer may be on its way yet
    await server.stop()
  }
})

test('nets of planes are not measured in centipawns', async ({ page }) => {
  const dir = fixedRun(home.dir + '/planes'), settings = dir + '/config.yaml'
  writeFileSync(settings, readFileSync(settings, 'utf8').replace('kind: nnue', 'kind: planes'))
  const server = await serve('dash', dir, '--listen', '127.0.0.1:0')
  try {
    await page.goto(server.url + '/#/nets')
    await expect(lastCells(page)).toHaveText(['–', '–', '–', '–'])
    await expect(card(page)).toBeHidden()
  } finally {
    await server.stop()
  }
})

test('the lineage follows the newest net unless a person looks at others', async ({ page }) => {
  const dir = fixedRun(home.dir + '/many')
  let generation = 4
  const offer = (): void => {
    generation++
    appendFileSync(dir + '/events.jsonl', JSON.stringify({ time: '2026-11-23T08:00:00Z', msg: 'net offered', generation, net: String(generation).padStart(64, '0') }) + '\n')
  }
  while (generation < 30) offer()
  const server = await serve('dash', dir, '--listen', '127.0.0.1:0')
  try {
    await page.setViewportSize({ width: 360, height: 800 })
    await page.goto(server.url + '/#/nets')
    const figure = page.getByRole('region', { name: 'Lineage' }), circles = figure.locator('circle')
    const left = () => figure.evaluate(e => e.scrollLeft), end = () => figure.evaluate(e => e.scrollWidth - e.clientWidth - e.scrollLeft)
    await expect(circles).toHaveCount(30)
    expect(await end()).toBeLessThan(2)
    await figure.evaluate(e => { e.scrollLeft = 40 })
    offer()
    await expect(circles).toHaveCount(31)
    expect(await left()).toBe(40)
    await figure.evaluate(e => { e.scrollLeft = e.scrollWidth })
    offer()
    await expect(circles).toHaveCount(32)
    expect(await end()).toBeLessThan(2)
  } finally {
    await server.stop()
  }
})
