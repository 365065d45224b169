// What a page does once more: follow a server that it has left or that is another one now,
// look for a game, begin at an address.

import { expect, test, type Page } from '@playwright/test'
import { run, scratch, serve, serveFixedRun } from './program'

const home = scratch()
const server = serveFixedRun(home)

// hide tells a page that it is not seen, or seen again.
async function hide(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate(hidden => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
    document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)
}

test('pages that are not seen leave the server to the one that is', async ({ context }) => {
  const pages: Page[] = []
  for (let i = 0; i < 6; i++) { // as many connections as a browser makes to a server
    const page = await context.newPage()
    await page.goto(server.url)
    await expect(page.locator('.stage')).toHaveCount(6)
    await hide(page, true)
    pages.push(page)
  }
  const seen = await context.newPage()
  await seen.goto(server.url + '/#/games')
  await expect(seen.locator('.list a').first()).toBeVisible()
  await seen.getByRole('link', { name: 'Overview' }).click()
  await expect(seen.locator('.stage')).toHaveCount(6)

  await pages[0].evaluate(() => document.querySelectorAll('.stage').forEach(e => e.remove()))
  await hide(pages[0], false)
  await expect(pages[0].locator('.stage')).toHaveCount(6)
})

test('a page that the browser has kept goes on', async ({ page }) => {
  await page.goto(server.url)
  await expect(page.locator('.stage')).toHaveCount(6)
  await page.evaluate(() => {
    dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))
    document.querySelectorAll('.stage').forEach(e => e.remove())
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))
  })
  await expect(page.locator('.stage')).toHaveCount(6)
})

test('a page shows the run of the server that has taken the place of its own', async ({ page }) => {
  const first = await serve('dash', home.dir + '/tiny', '--listen', '127.0.0.1:0')
  await page.goto(first.url + '/#/games')
  await expect(page.locator('.list a').first()).toBeVisible()
  await first.stop()
  run('--preset', 'tiny', '--dir', home.dir + '/other', '--games', '5')
  const second = await serve('dash', home.dir + '/other', '--listen', '127.0.0.1:' + first.port)
  try {
    const { games } = await (await page.request.get(second.url + '/api/games')).json()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('other')
    await expect(page.locator('.list a').first()).toHaveAttribute('href', '#/games/' + encodeURIComponent(games[0].id))
    await expect(page).toHaveURL(/#\/games$/)
  } finally {
    await second.stop()
  }
})

test('a game of Play outlives its server', async ({ page }) => {
  const first = await serve('dash', home.dir + '/tiny', '--listen', '127.0.0.1:0')
  await page.goto(first.url + '/#/play')
  await page.getByLabel('Strength').selectOption('nodes 400')
  const moves = page.getByRole('list', { name: 'Moves' }).getByRole('button')
  await page.locator('[data-square="e2"]').click()
  await page.locator('[data-square="e4"]').click()
  await expect(moves).toHaveCount(2)
  await first.stop()
  const met = page.waitForRequest(/api\/opponent$/)
  const second = await serve('dash', home.dir + '/tiny', '--listen', '127.0.0.1:' + first.port)
  try {
    await met
    await expect(page.getByText('It is your turn.')).toBeVisible()
    await expect(moves).toHaveCount(2)
  } finally {
    await second.stop()
  }
})

test('a game that was not found in time can be looked for again', async ({ page }) => {
  const newest = (await (await page.request.get(server.url + '/api/stored')).json()).games[0]
  const failures = [[504, 'no answer within 15s'], [503, 'the server looks for another game']] as const
  let asked = 0
  await page.route(/\/api\/games\//, route => {
    const failure = failures[asked++]
    return failure ? route.fulfill({ status: failure[0], json: { error: failure[1] } }) : route.continue()
  })
  await page.goto(server.url + '/#/games/' + encodeURIComponent(newest.id))
  await expect(page.getByText(failures[0][1])).toBeVisible()
  await page.getByRole('button', { name: 'Look for the game again' }).click()
  await expect(page.getByText(failures[1][1])).toBeVisible()
  await page.getByRole('button', { name: 'Page through all stored games' }).click()
  await expect(page.getByLabel('Segment')).toBeVisible()
  await page.locator('.list a').first().click()
  await expect(page.locator('.gamehead .words')).toContainText(newest.id)
  expect(page.url()).toContain('/' + newest.place)
})

test('the address of the content alone shows the first view', async ({ page }) => {
  const wrong: string[] = []
  page.on('pageerror', e => wrong.push(e.message))
  await page.goto(server.url + '/#/games')
  await expect(page.locator('.list a').first()).toBeVisible()
  await page.locator('.skip').focus()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/#main$/)
  await expect(page.locator('.list a').first()).toBeVisible()
  await page.reload()
  await expect(page.locator('.stage')).toHaveCount(6)
  await expect(page).toHaveTitle('Overview – tiny')
  expect(wrong).toEqual([])
})
