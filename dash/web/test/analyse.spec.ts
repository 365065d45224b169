// Analyse: positions and games of one's own, by the built-in net.

import { expect, test } from '@playwright/test'
import { scratch, serveFixedRun } from './program'

const server = serveFixedRun(scratch())

test('a game is stepped through, searched and drawn as inputs', async ({ page }) => {
  await page.goto(server.url + '/#/analyse')
  const text = page.getByLabel('FEN or PGN'), fen = page.getByLabel('FEN', { exact: true })
  await expect(fen).toHaveValue(/^rnbqkbnr\/pppppppp/)
  await page.getByLabel('Search', { exact: true }).selectOption('2000')
  await text.fill('1. e4 d5 2. exd5 Qxd5 3. P@e5 *')
  await page.getByRole('button', { name: 'Set up' }).click()
  const moves = page.getByRole('list', { name: 'Moves' }).getByRole('button')
  await expect(moves).toHaveCount(5)
  await moves.last().click()
  await expect(page.locator('.now')).toContainText('3. P@e5 · ply 5 of 5')
  const found = page.getByRole('region', { name: 'Lines and threats' })
  await expect(found.getByText(/^Black to move, the built-in net.*, depth/)).toBeVisible()
  await expect(found.locator('.lines li')).toHaveCount(3)
  await page.getByText('What the net sees').click()
  await expect(page.getByRole('img', { name: /seen by White/ }).first()).toBeVisible()
  await page.getByText('The 34 planes').click()
  await expect(page.locator('.planes figure')).toHaveCount(34)
  await page.locator('.cells [data-square="d5"]').click()
  await page.locator('.cells [data-square="d8"]').click()
  await expect(moves).toHaveCount(6)
  await page.keyboard.press('Home')
  await expect(fen).toHaveValue(/^rnbqkbnr\/pppppppp/)
})

test('the keys stay on the board at its edge, and when it is turned', async ({ page }) => {
  await page.goto(server.url + '/#/analyse')
  await page.getByLabel('FEN or PGN').fill('1. e4 d5 *')
  await page.getByRole('button', { name: 'Set up' }).click()
  await expect(page.locator('.now')).toContainText('ply 0 of 2')
  await page.getByRole('button', { name: 'Last position' }).click()
  await expect(page.locator('.now')).toContainText('ply 2 of 2')
  const a2 = page.locator('.cells [data-square="a2"]')
  await a2.focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('ArrowLeft')
  await expect(a2).toHaveAttribute('aria-pressed', 'true')
  await page.keyboard.press('f')
  await expect(page.locator('.cells button').first()).toHaveAttribute('data-square', 'h1')
  await expect(a2).toBeFocused()
  await page.keyboard.press('ArrowRight')
  await expect(a2).toHaveAttribute('aria-pressed', 'true')
  await page.keyboard.press('ArrowLeft')
  await expect(page.locator('.cells [data-square="b2"]')).toBeFocused()
})

test('a search that is given up is not shown as going on', async ({ page }) => {
  await page.route('**/api/ask/analysis', () => {}) // no answer
  await page.goto(server.url + '/#/analyse')
  const found = page.getByRole('region', { name: 'Lines and threats' })
  await expect(found).toHaveText('Searching.')
  await page.getByLabel('search every position shown').uncheck()
  await expect(found).toHaveText('Not searched yet.')
})

test('what is no position is said to be none', async ({ page }) => {
  await page.goto(server.url + '/#/analyse/' + encodeURIComponent('6k1/5ppp/8/8/8/8/5PPP/1N4K1[r] w - - 0 1'))
  await expect(page.getByLabel('FEN', { exact: true })).toHaveValue(/^6k1/)
  await expect(page.locator('.threats li').first()).toContainText('R@')
  await page.getByLabel('FEN or PGN').fill('8/8/8/8/8/8/8/8 w - - 0 1')
  await page.getByRole('button', { name: 'Set up' }).click()
  await expect(page.getByRole('alert')).toContainText('FEN:')
  await expect(page.getByLabel('FEN', { exact: true })).toHaveValue(/^6k1/)
})
