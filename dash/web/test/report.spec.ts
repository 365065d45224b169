// A report: the page in one file, opened from disk.

import { pathToFileURL } from 'node:url'
import { expect, test } from '@playwright/test'
import { accessible } from './axe'
import { fixedRun, run, scratch } from './program'

const home = scratch()
const file = () => home.dir + '/report.html'

test.beforeAll(() => {
  expect(run('report', fixedRun(home.dir), '--output', file(), '--games', '5')).toContain('the newest 5 games')
})
test.afterAll(() => home.remove())

test('a report shows the run and asks nobody', async ({ page, context }) => {
  await context.setOffline(true)
  const asked: string[] = [], wrong: string[] = []
  page.on('request', r => asked.push(r.url()))
  page.on('pageerror', e => wrong.push(e.message))
  page.on('console', m => wrong.push(m.text()))
  const address = pathToFileURL(file()).href
  await page.goto(address)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('tiny')
  await expect(page.locator('.alive')).toContainText('report of')
  await expect(page.locator('.stage')).toHaveCount(6)
  const nav = page.getByRole('navigation', { name: 'Views' })
  await expect(nav.getByRole('link')).toHaveText(['Overview', 'Learning', 'Games', 'Nets', 'Actors'])

  await nav.getByRole('link', { name: 'Learning' }).click()
  await expect(page.locator('.match').first()).toBeVisible()
  await nav.getByRole('link', { name: 'Nets' }).click()
  await expect(page.locator('.lineage circle.passed').first()).toBeVisible()
  await nav.getByRole('link', { name: 'Actors' }).click()
  await expect(page.locator('td').first()).toHaveText('local')
  await nav.getByRole('link', { name: 'Games' }).click()
  await expect(page.locator('.list a')).toHaveCount(5)
  await page.locator('.list a').last().click()
  await expect(page.locator('.moves button').first()).toBeVisible()
  await page.keyboard.press('End')
  await expect(page.locator('.moves [aria-current]')).toBeVisible()
  await page.getByText('its licence').click()
  await expect(page.locator('footer pre')).toContainText('MIT')

  expect(asked).toEqual([address])
  expect(wrong).toEqual([])
  await accessible(page, 'a report')
})

test('a report runs no script but its own', async ({ page }) => {
  await page.goto(pathToFileURL(file()).href)
  await expect(page.locator('.stage')).toHaveCount(6)
  const ran = await page.evaluate(() => {
    const script = document.createElement('script')
    script.textContent = 'window.foreign = true'
    document.body.append(script)
    return 'foreign' in window
  })
  expect(ran).toBe(false)
})
