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

test('a picture that a busy server refuses is asked for again', async ({ page }) => {
  const server = await serve('dash', fixedRun(home.dir + '/busy'), '--listen', '127.0.0.1:0')
  await page.route('**/api/nets', async route => { // the files of the fixed run's nets are not there
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...await response.json(), width: 16 } })
  })
  let asked = 0
  await page.route('**/api/neurons/**', route => ++asked === 1 ? route.fulfill({ status: 503, json: { error: 'busy' } })
    : route.fulfill({ contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>' }))
  try {
    await page.goto(server.url + '/#/nets')
    await expect(page.locator('img.neuron')).toBeVisible()
    await expect.poll(() => page.locator('img.neuron').evaluate((e: HTMLImageElement) => e.naturalWidth)).toBe(8)
    expect(asked).toBe(2)
  } finally {
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await server.stop()
  }
})

test('nets that were played with without a gate are on the line', async ({ page }) => {
  const dir = fixedRun(home.dir + '/ungated'), events = dir + '/events.jsonl'
  writeFileSync(events, readFileSync(events, 'utf8').split('\n').filter(l => !l.includes('"msg":"gate"')).join('\n'))
  const server = await serve('dash', dir, '--listen', '127.0.0.1:0')
  try {
    await page.goto(server.url + '/#/nets')
    const verdicts = page.getByRole('region', { name: 'Nets, the newest first' }).locator('td:nth-child(3)')
    await expect(verdicts).toHaveText(['not judged', 'played with, no gate', 'not judged', 'not judged'])
    await expect(page.locator('.lineage .trunk')).toHaveCount(1)
    await expect(page.locator('.view-nets')).toContainText('nets that were played with without a gate')
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
