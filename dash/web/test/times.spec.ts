// What changes with time alone: times of a day, and tables that are renewed.

import { expect, test } from '@playwright/test'
import { scratch, serveFixedRun } from './program'

const server = serveFixedRun(scratch())

test.describe('where the run began after midnight', () => {
  test.use({ locale: 'en-US', timezoneId: 'America/Phoenix' })

  test('times of another day have the day, and the first hour is 0', async ({ page }) => {
    await page.goto(server.url)
    const oldest = page.locator('.events time').last()
    await expect(oldest).toHaveText('11/23/26, 00:09')
    for (const [view, fold] of [['learning', 'Verdicts'], ['learning', 'Nets offered, as a table'], ['nets', 'All figures']]) {
      await page.goto(server.url + '/#/' + view)
      const table = page.locator('details').filter({ hasText: fold })
      await table.locator('summary').click()
      await expect(table.locator('tbody tr').last()).toContainText('11/23/26, 00:09')
    }
    await page.clock.setFixedTime(new Date('2026-11-23T20:00:00Z'))
    await page.goto(server.url + '/#/')
    await page.reload()
    await expect(oldest).toHaveText('00:09:16')
  })
})

test('a table that is renewed stays as it is scrolled, with the focus', async ({ page }) => {
  let asked = 0
  await page.route('**/api/actors', async route => {
    const response = await route.fetch(), actors = await response.json()
    actors.actors[0].seen = new Date(Date.parse(actors.time) - 1000 * ++asked).toISOString()
    await route.fulfill({ response, json: actors })
  })
  await page.setViewportSize({ width: 360, height: 800 })
  await page.goto(server.url + '/#/actors')
  const region = page.getByRole('region', { name: /by the actor/ }), row = region.locator('tbody tr').first()
  await expect(row).toContainText('s ago')
  await region.focus()
  await region.evaluate(e => { e.scrollLeft = 30 })
  await expect(row).not.toHaveText((await row.textContent())!)
  expect(await region.evaluate(e => e.scrollLeft)).toBe(30)
  await expect(region).toBeFocused()
  await page.unrouteAll({ behavior: 'ignoreErrors' }) // an answer may be on its way yet
})
