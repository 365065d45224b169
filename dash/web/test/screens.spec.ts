// How the views of a fixed run look, at three widths. The pictures in screens change only
// with make browser UPDATE=1.

import { expect, test } from '@playwright/test'
import { fixedRun, scratch, serve, type Served } from './program'

const home = scratch()
let server: Served

test.beforeAll(async () => {
  server = await serve('dash', fixedRun(home.dir), '--listen', '127.0.0.1:0')
})
test.afterAll(async () => {
  await server?.stop()
  home.remove()
})

const views = [
  { name: 'overview', path: '#/', shown: '.events li' },
  { name: 'learning', path: '#/learning', shown: '.match' },
  { name: 'games', path: '#/games', shown: '.list a' },
  { name: 'nets', path: '#/nets', shown: '.lineage circle' },
  { name: 'actors', path: '#/actors', shown: 'td' },
]

for (const width of [360, 800, 1280]) {
  for (const view of views) {
    test(`${view.name} at ${width} pixels`, async ({ page }) => {
      await page.setViewportSize({ width, height: 900 })
      await page.goto(server.url + '/' + view.path)
      await expect(page.locator(view.shown).first()).toBeVisible()
      if (view.name === 'games') {
        await page.locator('.list a').first().click()
        await expect(page.locator('.moves button').first()).toBeVisible()
        await page.keyboard.press('End')
        await expect(page.locator('.moves [aria-current]')).toBeVisible()
      }
      // A phone scrolls down, never to the side.
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
      // Rates are drawn over the time of day.
      await expect(page.locator('main')).toHaveScreenshot(`${view.name}-${width}.png`, { mask: [page.locator('[aria-label="Rates a second"]')] })
    })
  }
}
