// How the views of a fixed run look, at three widths. The pictures in screens change only
// with make browser UPDATE=1.

import { expect, test, type Page } from '@playwright/test'
import { accessible } from './axe'
import { fixedComparison, fixedRun, scratch, serve, type Served } from './program'

const home = scratch()
let server: Served, compared: Served

test.beforeAll(async () => {
  server = await serve('dash', fixedRun(home.dir), '--listen', '127.0.0.1:0')
  compared = await serve('dash', fixedComparison, '--listen', '127.0.0.1:0')
})
test.afterAll(async () => {
  await server?.stop()
  await compared?.stop()
  home.remove()
})

// A position with pieces in both hands and drops that threaten.
const position = encodeURIComponent('r2q1rk1/ppp2ppp/2nbb3/3p4/3P4/2PB1N2/PP3PPP/R1BQ1RK1[Pqnp] w - - 0 12')

const analysis = {
  net: 'the built-in net (generation 3 is not on disk)', fen: decodeURIComponent(position), depth: 1, nodes: 2000,
  lines: [
    { cp: -793, win: 117, draw: 5, loss: 878, uci: ['P@h6', 'P@h3', 'g2h3'], san: ['P@h6', 'P@h3', 'gxh3'] },
    { cp: -837, win: 106, draw: 4, loss: 890, uci: ['c1g5', 'f7f6'], san: ['Bg5', 'f6'] },
    { cp: -1071, win: 62, draw: 2, loss: 936, uci: ['P@e5', 'P@h3'], san: ['P@e5', 'P@h3'] },
  ],
  threats: [
    { uci: 'P@e4', san: 'P@e4', check: false, mate: 0, gain: 411, line: '12... P@e4 13. P@h6 Q@g6 14. hxg7' },
    { uci: 'P@h3', san: 'P@h3', check: false, mate: 0, gain: 396, line: '12... P@h3 13. P@h6 hxg2' },
    { uci: 'P@g4', san: 'P@g4', check: false, mate: 0, gain: 329, line: '12... P@g4 13. Ne1' },
  ],
}

interface Pictured { name: string; path: string; shown: string; of?: () => Served; prepare?: (page: Page) => Promise<void> }

const views: Pictured[] = [
  { name: 'overview', path: '#/', shown: '.events li' },
  { name: 'learning', path: '#/learning', shown: '.match' },
  {
    name: 'games', path: '#/games', shown: '.list a',
    async prepare(page) {
      await page.locator('.list a').first().click()
      await expect(page.locator('.moves button').first()).toBeVisible()
      await page.keyboard.press('End')
      await expect(page.locator('.moves [aria-current]')).toBeVisible()
    },
  },
  { name: 'compare', path: '#/', shown: '.matrix td', of: () => compared },
  { name: 'nets', path: '#/nets', shown: '.lineage circle' },
  { name: 'actors', path: '#/actors', shown: 'td' },
  {
    name: 'play', path: '#/play/' + position, shown: '.held:enabled',
    async prepare(page) {
      await page.locator('.held:enabled').click()
      await expect(page.locator('.cells .target').first()).toBeVisible()
    },
  },
  {
    name: 'analyse', path: '#/analyse/' + position, shown: '.found p',
    async prepare(page) {
      // The answer of a search, which every change of the search would change.
      await page.route('**/api/ask/analysis', route => route.fulfill({ json: analysis }))
      await page.getByLabel('Search', { exact: true }).selectOption('2000')
      await expect(page.locator('.found .words').first()).toContainText(/ 2,\d{3} nodes$/)
      await page.getByText('What the net sees').click()
      await expect(page.getByRole('img', { name: /seen by White/ }).first()).toBeVisible()
    },
  },
]

for (const width of [360, 800, 1280]) {
  for (const view of views) {
    test(`${view.name} at ${width} pixels`, async ({ page }) => {
      await page.setViewportSize({ width, height: 900 })
      await page.goto((view.of?.() ?? server).url + '/' + view.path)
      await expect(page.locator(view.shown).first()).toBeVisible()
      await view.prepare?.(page)
      // A phone scrolls down, never to the side.
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
      // A game that is played has today's date, and the run lies where the test is.
      await page.locator('.copy input, .copy textarea').evaluateAll((all: (HTMLInputElement | HTMLTextAreaElement)[]) => {
        for (const e of all) e.value = e.value.replace(/(selfplay ladder) \S+/, '$1 runs/tiny').replace(/\[Date "[0-9.]*"\]/, '[Date "2026.01.02"]')
      })
      await expect(page.locator('main')).toHaveScreenshot(`${view.name}-${width}.png`)
    })
  }
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(`Compare breaks no rules of WCAG A and AA, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.goto(compared.url)
    await expect(page.locator('.matrix td').first()).toBeVisible()
    await accessible(page, `${colorScheme}, Compare`)
  })
}
