// The page of a run on a server, without a directory of it.

import { createServer } from 'node:net'
import { expect, test } from '@playwright/test'
import { accessible } from './axe'
import { scratch, serve } from './program'

const home = scratch()
test.afterAll(() => home.remove())

// free returns a port that nobody has.
async function free(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}

test('a run on a server is shown by what the server says', async ({ page }) => {
  const wrong: string[] = []
  page.on('pageerror', e => wrong.push(e.message))
  const port = await free()
  const loop = await serve('--preset', 'tiny', '--dir', home.dir + '/far', '--listen', `127.0.0.1:${port}`, '--dash', '127.0.0.1:0')
  const server = await serve('dash', '--nats', `nats://127.0.0.1:${port}`, '--run', 'far', '--listen', '127.0.0.1:0')
  try {
    await page.goto(server.url)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('far')
    await expect(page.locator('.alive')).toHaveText('watched through its servers')
    await expect(page.getByRole('region', { name: 'Trainer' })).toContainText('processes')
    for (const [view, shown] of [['actors', '.verdict.passed'], ['nets', '.lineage circle'], ['learning', '.chart'], ['games', '.words'], ['', '.stage']]) {
      await page.goto(server.url + '/#/' + view)
      await expect(page.locator(shown).first()).toBeVisible()
      await accessible(page, `a run on a server, ${view || 'overview'}`)
    }
    await page.goto(server.url + '/#/games')
    await page.locator('.list a').first().click()
    await expect(page.locator('.moves button').first()).toBeVisible()
    await expect(page.locator('.boardlist li').first()).toContainText(/ply|plies/)
    await page.getByRole('button', { name: 'Page through all stored games' }).click()
    await expect(page.locator('.games .words')).toContainText('stored are segments 1 to')
    await page.locator('.list a').last().click()
    await expect(page).toHaveURL(/\/\d+\.\d+$/)
    const address = page.url(), id = address.split('/')[5]
    for (const one of [address, server.url + '/#/games/' + id]) {
      await page.goto('about:blank')
      await page.goto(one)
      await expect(page.locator('.gamehead .words')).toContainText(decodeURIComponent(id))
    }
    await page.goto(server.url + '/#/learning')
    await expect(page.locator('.match').first()).toContainText('generation')
    await expect(page.locator('.view-learning')).toContainText('judged')
    await page.goto(server.url + '/#/')
    await loop.stop()
    await expect(page.locator('.findings li').first()).toContainText('the servers do not answer')
    expect(wrong).toEqual([])
  } finally {
    await server.stop()
    await loop.stop()
  }
})
