// Games that are not among the newest: paged back to, opened by address and by id, and what
// is said of those that cannot be read.

import { closeSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { expect, test, type Page } from '@playwright/test'
import { fixedRun, scratch, serve, serveFixedRun } from './program'

const home = scratch()
const segment = () => home.dir + '/tiny/replay/00000001.seg'
const server = serveFixedRun(home)

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

test('every stored game is listed and can be replayed by its address', async ({ page }) => {
  const wrong: string[] = []
  page.on('pageerror', e => wrong.push(e.message))
  await page.goto(server.url + '/#/games')
  await expect(page.locator('.games .words')).toContainText('the newest 500 as they come')
  await press(page, 'Page through all stored games')
  const words = page.locator('.games .words'), rows = page.locator('.list tbody tr'), older = page.getByRole('button', { name: 'A page of older games' })
  await expect(words).toContainText('stored are segments 1 to')
  const ids = new Set<string>()
  for (;;) {
    const before = await rows.first().innerHTML()
    for (const href of await rows.locator('a').evaluateAll(all => all.map(a => a.getAttribute('href')!))) ids.add(href.split('/')[2])
    if (await older.isDisabled()) break
    await older.click()
    await expect.poll(() => rows.first().innerHTML()).not.toBe(before)
  }
  expect(ids.size).toBe(621)
  await rows.last().locator('a').click()
  await expect(page.locator('.gamehead .words')).toContainText('before the first net')
  const address = page.url(), id = decodeURIComponent(address.split('/')[5])
  expect(address).toContain('/1.24')
  const moves = await page.getByRole('list', { name: 'Moves' }).textContent()

  for (const open of [() => page.goto(address), () => page.goto(server.url + '/#/games/' + encodeURIComponent(id))]) {
    await page.goto('about:blank')
    await open()
    await expect(page.locator('.gamehead .words')).toContainText(id)
    await expect(page.getByRole('list', { name: 'Moves' })).toHaveText(moves!)
  }
  await page.getByLabel('Game by its id').fill('no-such-game')
  await press(page, 'Open')
  await expect(page.getByText('found none with the id no-such-game')).toBeVisible()
  await press(page, 'Page through all stored games')
  await page.getByLabel('Segment').fill('1')
  await press(page, 'Go')
  await expect(words).toContainText('of segment 1;')
  await press(page, 'The newest games, as they come')
  await expect(words).toContainText('as they come')
  expect(wrong).toEqual([])
})

test('nets of which no event tells are not called the first player', async ({ page }) => {
  const dir = fixedRun(home.dir + '/replay'), events = dir + '/events.jsonl' // as a replay role has them
  writeFileSync(events, readFileSync(events, 'utf8').split('\n')[0] + '\n')
  const untold = await serve('dash', dir, '--listen', '127.0.0.1:0')
  try {
    await page.goto(untold.url + '/#/games')
    const link = page.locator('.list a').first()
    await expect(link).toHaveText('unknown')
    await link.click()
    await expect(page.locator('.gamehead .words')).toContainText('generation unknown (')
  } finally {
    await untold.stop()
  }
})

test('games that cannot be read are said to be so', async ({ page }) => {
  const oldest = (await (await page.request.get(server.url + '/api/stored?before=1.300')).json()).games.pop()
  const address = `${server.url}/#/games/${encodeURIComponent(oldest.id)}/${oldest.place}`
  const file = openSync(segment(), 'r+')
  writeSync(file, Buffer.alloc(20), 0, 20, Number(oldest.place.split('.')[1]))
  closeSync(file)
  await page.goto(address)
  await expect(page.getByText('found no whole game at offset 24')).toBeVisible()
  await press(page, 'Page through all stored games')
  await page.getByLabel('Segment').fill('1')
  await press(page, 'Go')
  const words = page.locator('.games .words'), older = page.getByRole('button', { name: 'A page of older games' })
  await expect(words).toContainText('of segment 1;')
  while (await older.isEnabled()) {
    const before = await page.locator('.list a').first().getAttribute('href')
    await older.click()
    await expect(page.locator('.list a').first()).not.toHaveAttribute('href', before!)
  }
  await expect(page.locator('.unread')).toContainText('00000001.seg')
  rmSync(segment())
  await page.goto('about:blank')
  await page.goto(address)
  await expect(page.getByText('00000001.seg: it is lost')).toBeVisible()
})
