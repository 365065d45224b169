// The page of a comparison: while it is made, and when it is over.

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test, type Page } from '@playwright/test'
import { accessible } from './axe'
import { binary, fixedComparison, fixedRun, scratch, serve } from './program'

const home = scratch()
const dir = () => home.dir + '/comparison'
test.afterAll(() => home.remove())

const plan = `schema: 1
train: {preset: tiny, batch: 64, epochs: 1, skip_in_check: false, skip_captures: false, held_out: 100, factorise: false}
seeds: 1
rows: [{name: "a <b> & c", features: All}, {name: hands, features: Hand}]
anchors: [{name: material, player: material, elo: 0}]
games: {pairs: 2, nodes: 20, time: 0s, puzzles: 5}
`

const rows = (page: Page): ReturnType<Page['getByRole']> => page.getByRole('region', { name: 'Rows of the comparison' })

test('a comparison is shown while it is made and when it is over', async ({ page }) => {
  const wrong: string[] = []
  page.on('pageerror', e => wrong.push(e.message))
  writeFileSync(home.dir + '/plan.yaml', plan)
  const child = spawn(binary, ['compare', home.dir + '/plan.yaml', '--dir', dir(), '--data', fixedRun(home.dir), '--jobs', '1'], { stdio: 'ignore' })
  const code = new Promise<number | null>(resolve => child.once('close', resolve))
  while (!existsSync(dir() + '/plan.yaml')) await pause(50)
  const server = await serve('dash', dir(), '--listen', '127.0.0.1:0')
  try {
    await page.goto(server.url)
    await expect(page.getByRole('navigation', { name: 'Views' }).getByRole('link')).toHaveText(['Compare'])
    await expect(rows(page).getByRole('row')).toHaveCount(3)
    expect(await code).toBe(0)
    await expect(page.locator('.alive')).toHaveText('over')
    await expect(page.getByRole('region', { name: /At fixed nodes/ }).getByRole('row')).toHaveCount(4)

    const names = rows(page).getByRole('rowheader')
    await rows(page).getByRole('button', { name: 'row' }).click()
    await expect(names).toHaveText(['a <b> & c', 'hands'])
    await rows(page).getByRole('button', { name: 'row' }).click()
    await expect(names).toHaveText(['hands', 'a <b> & c'])
    await expect(rows(page).getByRole('columnheader', { name: 'row' })).toHaveAttribute('aria-sort', 'descending')
    await rows(page).getByRole('button', { name: 'inputs' }).click()
    await expect(names).toHaveText(['hands', 'a <b> & c'])
    expect(wrong).toEqual([])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await accessible(page, `${colorScheme}, a comparison that is made`)
    }
  } finally {
    child.kill()
    await server.stop()
  }
})

test('tables of a comparison stay as they are scrolled when figures come', async ({ page }) => {
  const under = home.dir + '/under-way'
  mkdirSync(under)
  const sofar = readFileSync(fixedComparison + '/progress.json', 'utf8')
  writeFileSync(under + '/plan.yaml', readFileSync(fixedComparison + '/plan.yaml'))
  writeFileSync(under + '/progress.json', sofar.replace('"ll":5', '"ll":4'))
  const server = await serve('dash', under, '--listen', '127.0.0.1:0')
  try {
    await page.setViewportSize({ width: 360, height: 800 })
    await page.goto(server.url)
    const matrix = page.getByRole('region', { name: /At fixed nodes/ })
    await expect(matrix).toContainText('7 of 8')
    await matrix.focus()
    await matrix.evaluate(e => { e.scrollLeft = 5 })
    writeFileSync(under + '/progress.json', sofar)
    await expect(matrix).not.toContainText('7 of 8')
    expect(await matrix.evaluate(e => e.scrollLeft)).toBe(5)
    await expect(matrix).toBeFocused()

    const loss = rows(page).getByRole('button', { name: 'loss' })
    await loss.click()
    writeFileSync(under + '/progress.json', sofar.replace('"expression":"Hand"', '"expression":"Hand + King"'))
    await expect(rows(page)).toContainText('Hand + King')
    await expect(loss).toBeFocused()
  } finally {
    await server.stop()
  }
})
