// Play: games against the built-in net, as the files of the fixed run's nets are not there.

import { expect, test, type Page } from '@playwright/test'
import { scratch, serveFixedRun } from './program'

const server = serveFixedRun(scratch())

const at = (fen: string): string => server.url + '/#/play/' + encodeURIComponent(fen)
const fen = (page: Page) => page.getByLabel('FEN', { exact: true })
const square = (page: Page, name: string) => page.locator(`[data-square="${name}"]`)

test('a game with a drop is won', async ({ page }) => {
  await page.goto(at('7k/8/5K2/8/8/8/8/r7[Qp] w - - 0 1'))
  await expect(page.getByText('It is your turn.')).toBeVisible()
  await page.getByRole('button', { name: 'Drop a queen, 1 in hand' }).dragTo(square(page, 'g7'))
  await expect(page.locator('.now')).toHaveText('White mates, 1-0')
  await expect(fen(page)).toHaveValue('7k/6Q1/5K2/8/8/8/8/r7[p] b - - 0 1')
  await expect(page.getByLabel('PGN', { exact: true })).toHaveValue(/1\. Q@g7# .*1-0/s)
  await page.getByRole('button', { name: 'Take back your last move' }).click()
  await expect(fen(page)).toHaveValue('7k/8/5K2/8/8/8/8/r7[Qp] w - - 0 1')
})

test('a drop is made with the keys alone', async ({ page }) => {
  await page.goto(at('7k/8/5K2/8/8/8/8/r7[QNqp] w - - 0 1'))
  await expect(page.getByText('It is your turn.')).toBeVisible()
  await square(page, 'e2').focus()
  const chosen = page.locator('.held[aria-pressed="true"]')
  await page.keyboard.press('p') // none is in hand
  await expect(chosen).toHaveCount(0)
  await page.keyboard.press('n')
  await expect(chosen).toHaveAccessibleName('Drop a knight, 1 in hand')
  await page.keyboard.press('q')
  await expect(chosen).toHaveAccessibleName('Drop a queen, 1 in hand')
  for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowRight', 'ArrowRight', 'Enter']) await page.keyboard.press(key)
  await expect(page.locator('.now')).toHaveText('White mates, 1-0')
  await expect(fen(page)).toHaveValue('7k/6Q1/5K2/8/8/8/8/r7[Nqp] b - - 0 1')
})

test('the net answers, and the keys alone do', async ({ page }) => {
  await page.goto(server.url + '/#/play')
  await page.getByLabel('Strength').selectOption('nodes 400')
  await square(page, 'e2').click()
  await square(page, 'e4').click()
  await expect(page.locator('.now')).toContainText(/The built-in net.* plays 1…/)
  await expect(page.getByRole('list', { name: 'Moves' }).getByRole('button')).toHaveCount(2)
  await square(page, 'e4').focus()
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowLeft', 'Enter', 'ArrowUp', 'Enter']) await page.keyboard.press(key)
  await expect(page.locator('.now')).toContainText(/The built-in net.* plays 2…/)
  await page.getByRole('button', { name: 'New game as Black' }).click()
  await expect(page.locator('.now')).toContainText(/The built-in net.* plays 1\./)
  await expect(square(page, 'h1')).toBeVisible()
  await page.getByLabel('Move, such as').fill('Ke9')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('alert')).toContainText('"Ke9"')
})

test('who types moves keeps the field while the net thinks', async ({ page }) => {
  await page.goto(server.url + '/#/play')
  await page.getByLabel('Strength').selectOption('nodes 400')
  const typed = page.getByLabel('Move, such as')
  await typed.fill('e4')
  await page.keyboard.press('Enter')
  await expect(page.locator('.now')).toContainText(/The built-in net.* plays 1…/)
  await page.keyboard.type('Nf3')
  await expect(typed).toHaveValue('Nf3')
})

test('a piece that is let go outside of the board is not carried on', async ({ page }) => {
  await page.goto(server.url + '/#/play')
  await expect(page.getByText('It is your turn.')).toBeVisible()
  const middle = async (name: string): Promise<[number, number]> => {
    const box = (await square(page, name).boundingBox())!
    return [box.x + box.width / 2, box.y + box.height / 2]
  }
  await page.mouse.move(...await middle('e2'))
  await page.mouse.down()
  await page.mouse.move(1, 1)
  await page.mouse.up()
  for (const name of ['e3', 'e4', 'e5']) await page.mouse.move(...await middle(name))
  await expect(page.locator('.ghost, .cells .target')).toHaveCount(0)
  await square(page, 'e2').click()
  await expect(page.locator('.cells .target')).toHaveCount(2)
})

test('a pawn becomes what is chosen', async ({ page }) => {
  await page.goto(at('8/P6k/8/8/8/8/8/K7[] w - - 0 1'))
  await square(page, 'a7').click()
  await square(page, 'a8').click()
  await page.getByRole('group', { name: 'Promote to' }).getByRole('button', { name: 'knight' }).click()
  await expect(page.getByRole('list', { name: 'Moves' }).getByRole('button').first()).toHaveText('1. a8=N')
})
