// Boards: where the bar stands that says what White expects.

import { expect, test } from '@playwright/test'
import { scratch, serveFixedRun } from './program'

const server = serveFixedRun(scratch())

test('the bar stands beside the drawing when hands take two rows', async ({ page }) => {
  const fen = 'r2q1rk1/ppp2ppp/2n1b3/3p4/3P4/2PB1N2/PP3PPP/R1BQ1RK1[QRBNPqrbnp] w - - 0 12'
  await page.route('**/api/boards', route => route.fulfill({ json: {
    live: true, more: 0, list: [{ fen, san: 'd5', uci: 'd7d5', check: false, score: 30, mate: null, win: 0.6, train: true,
      actor: 'game 1', game: 'a-1', generations: [1, 1], plies: 22, line: '', result: '*', reason: '' }],
  } }))
  await page.setViewportSize({ width: 360, height: 900 })
  await page.goto(server.url + '/#/games')
  const board = page.locator('.boardlist li').first()
  const box = async (inside: string) => (await board.locator(inside).first().boundingBox())!
  await expect(board).toContainText('White expects 60.0 %')
  const [hand, bar, drawing] = [await box('.hand'), await box('.evalbar'), await box('.board svg[viewBox="0 0 360 360"]')]
  expect(hand.height).toBeGreaterThan(50)
  expect(bar.y).toBeCloseTo(drawing.y, 1)
  expect(bar.height).toBeCloseTo(drawing.height, 1)
  expect(bar.x + bar.width).toBeLessThan(drawing.x)
  await page.unrouteAll({ behavior: 'ignoreErrors' }) // an answer may be on its way yet
})
