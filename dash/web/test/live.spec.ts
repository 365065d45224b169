// The page of a real run: every view, what a browser says of them, a server that goes
// away and comes again.

import { expect, test, type Page } from '@playwright/test'
import { accessible } from './axe'
import { run, scratch, serve, type Served } from './program'

const home = scratch()
const dir = () => home.dir + '/run'
let server: Served

test.beforeAll(async () => {
  run('--preset', 'tiny', '--dir', dir(), '--until-generation', '2')
  server = await serve('dash', dir(), '--listen', '127.0.0.1:0')
})
test.afterAll(async () => {
  await server?.stop()
  home.remove()
})

// watched notes what a page must not do: errors of its scripts and breaches of its policy.
function watched(page: Page): string[] {
  const wrong: string[] = []
  page.on('pageerror', e => wrong.push(e.message))
  page.on('console', m => {
    if (m.type() === 'error' || /Content Security Policy/.test(m.text())) wrong.push(m.text())
  })
  return wrong
}

// views are the names and addresses of all views, as the page has them.
async function views(page: Page): Promise<{ title: string; href: string }[]> {
  await page.goto(server.url)
  const links = page.getByRole('navigation', { name: 'Views' }).getByRole('link')
  await expect(links.first()).toBeVisible()
  return links.evaluateAll(all => all.map(a => ({ title: a.textContent!, href: a.getAttribute('href')! })))
}

test('Overview shows the data path', async ({ page }) => {
  const wrong = watched(page)
  await page.goto(server.url)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('run')
  await expect(page.locator('.alive')).toHaveText('stopped')
  await expect(page.locator('.stage')).toHaveCount(6)
  await expect(page.getByRole('region', { name: 'Replay buffer' })).toContainText('games')
  await expect(page.locator('.events li').first()).toContainText('stopped with')
  expect(wrong).toEqual([])
})

test('Learning shows strength, matches, losses and the window', async ({ page }) => {
  const wrong = watched(page)
  await page.goto(server.url + '/#/learning')
  await expect(page.locator('.match').first()).toContainText('generation')
  await expect(page.locator('.match svg').first()).toHaveAttribute('aria-label', /log-likelihood ratio .* of 4 pairs/)
  await expect(page.locator('.bars span').first()).toBeVisible()
  const command = page.getByLabel('Command', { exact: true })
  await expect(command).toHaveValue(/^selfplay ladder .* --history/)
  await expect(page.locator('.view-learning')).toContainText('No net of this run has been rated against fixed opponents')
  run('ladder', dir(), '--history', '--games', '4', '--margin', '0')
  await page.reload()
  const ladder = page.locator('section').filter({ hasText: 'Strength against fixed opponents' })
  await expect(ladder.locator('.words')).toContainText(/against material-400 \(0\)/)
  await expect(ladder.getByRole('img', { name: /^Elo against fixed opponents with its 95 % interval$/ })).toBeVisible()
  await expect(ladder.locator('.u-legend')).toContainText(/Elo\s*[+−]?\d/) // the newest, without a pointer
  await ladder.getByLabel('with the sum of the gate').check()
  await expect(ladder.getByRole('img', { name: /and the sum of Elo by the gate$/ })).toBeVisible()
  await expect(ladder.locator('.u-legend')).toContainText(/sum of the gate\s*[+−]?\d/)
  await ladder.getByText('As a table').click()
  await expect(page.getByRole('region', { name: /^Nets by their ratings/ }).getByRole('row').nth(1)).toContainText('material-400')
  await page.getByText('Nets offered, as a table').click()
  await expect(page.getByRole('region', { name: /offered/ }).getByRole('row').nth(1)).toBeVisible()
  expect(wrong).toEqual([])
})

test('Games are listed, filtered and replayed', async ({ page }) => {
  const wrong = watched(page)
  await page.goto(server.url + '/#/games')
  const list = page.getByRole('region', { name: 'Games', exact: true })
  await expect(list.getByRole('link').first()).toBeVisible()
  await page.getByLabel('Result').selectOption('1-0')
  await expect(list.getByRole('row').nth(1)).toContainText('1-0')
  await list.getByRole('link').first().click()
  await expect(page.locator('.now')).toContainText('Start')
  const first = await page.getByLabel('FEN', { exact: true }).inputValue()
  await page.getByRole('button', { name: 'Forward' }).click()
  await expect(page.locator('.now')).toContainText('ply 1 of')
  expect(await page.getByLabel('FEN', { exact: true }).inputValue()).not.toBe(first)
  await page.keyboard.press('End')
  await expect(page.getByRole('list', { name: 'Moves' }).getByRole('button').last()).toHaveAttribute('aria-current', 'step')
  await page.keyboard.press('Home')
  await expect(page.getByLabel('FEN', { exact: true })).toHaveValue(first)
  await expect(page.getByLabel('PGN', { exact: true })).toHaveValue(/\[Result "1-0"\]/)
  expect(wrong).toEqual([])
})

test('a game chosen on a phone comes into view', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 800 })
  await page.goto(server.url + '/#/games')
  await page.locator('.list a').first().click()
  await expect(page.locator('section.game')).toBeInViewport({ ratio: 0.5 })
})

test('Nets shows lineage and verdicts', async ({ page }) => {
  const wrong = watched(page)
  await page.goto(server.url + '/#/nets')
  await expect(page.locator('.lineage circle.passed').first()).toBeVisible()
  await expect(page.locator('img.neuron')).toHaveJSProperty('complete', true)
  await page.getByRole('button', { name: 'Next' }).click()
  await expect(page.locator('img.neuron')).toHaveAttribute('alt', 'Weights of neuron 1 by piece and square')
  await expect.poll(() => page.locator('img.neuron').evaluate((e: HTMLImageElement) => e.naturalWidth)).toBeGreaterThan(0)
  await expect(page.getByRole('region', { name: 'Nets, the newest first' }).locator('.verdict.passed').first()).toBeVisible()
  expect(wrong).toEqual([])
})

test('Actors are known by their games', async ({ page }) => {
  const wrong = watched(page)
  await page.goto(server.url + '/#/actors')
  await expect(page.getByRole('region', { name: /by the actor/ }).getByRole('row').nth(1)).toContainText('local')
  expect(wrong).toEqual([])
})

test('a loop serves its own page', async ({ page }) => {
  const wrong = watched(page)
  const own = await serve('--preset', 'tiny', '--dir', home.dir + '/own', '--dash', '127.0.0.1:0')
  try {
    await page.goto(own.url)
    await expect(page.locator('.alive')).toContainText('running for')
    await expect(page.locator('.alive').getByRole('status')).toHaveText('running') // what is read aloud does not change each second
    await expect(page.getByRole('region', { name: 'Trainer' })).toBeVisible()
    await expect(page.locator('.events li').first()).toBeVisible()
    await page.getByRole('link', { name: 'Games' }).click()
    await expect(page.getByText('The games that this process plays')).toBeVisible()
    await expect(page.locator('.boardlist li').first()).toContainText('White expects')
    await page.getByRole('link', { name: 'Actors' }).click()
    const processes = page.getByRole('region', { name: 'Processes of the run' })
    await expect(processes.getByRole('row').nth(1)).toContainText('loop')
    await expect(processes).toContainText('ago')
    expect(wrong).toEqual([])
  } finally {
    await own.stop()
  }
})

test('a loop shows how its allocator divides the cores', async ({ page }) => {
  const wrong = watched(page)
  const own = await serve('--preset', 'tiny', '--dir', home.dir + '/divided', '--set', 'allocator.enabled=true', '--dash', '127.0.0.1:0')
  try {
    await page.goto(own.url + '/#/learning')
    const card = page.locator('section').filter({ hasText: 'Division of cores' })
    await expect(card).toContainText('which the allocator divides.')
    const rows = card.getByRole('region', { name: /^Shares of the cores/ }).locator('tbody tr')
    await expect(rows).toHaveText([/^play\d+ %\d+ %–$/, /^train/, /^gate/])
    await page.goto(own.url)
    await expect(page.getByRole('region', { name: 'Play', exact: true })).toContainText(/share of the cores, play\d+ %, used \d+ %/)
    expect(wrong).toEqual([])
  } finally {
    await own.stop()
  }
})

test('a run without a net draws no empty charts', async ({ page }) => {
  run('--preset', 'tiny', '--dir', home.dir + '/begun', '--games', '5')
  const begun = await serve('dash', home.dir + '/begun', '--listen', '127.0.0.1:0')
  try {
    await page.goto(begun.url + '/#/learning')
    await expect(page.locator('.view-learning')).toContainText('No net has passed the gate yet')
    await expect(page.locator('.empty:visible', { hasText: 'There are no figures yet.' })).toHaveCount(2)
    await expect(page.locator('.chart:visible')).toHaveCount(0)
    await page.goto(begun.url + '/#/nets')
    await expect(page.locator('.view-nets')).toContainText('No net has been offered yet.')
    await expect(page.locator('.lineage:visible, .chart:visible')).toHaveCount(0)
  } finally {
    await begun.stop()
  }
})

test('the page comes back with its server', async ({ page }) => {
  const first = await serve('dash', dir(), '--listen', '127.0.0.1:0')
  await page.goto(first.url + '/#/nets')
  await expect(page.locator('.alive')).toHaveText('stopped')
  await first.stop()
  await expect(page.locator('.alive')).toContainText('no answer from the server')
  await expect(page.locator('.lineage')).toBeVisible()
  const second = await serve('dash', dir(), '--listen', '127.0.0.1:' + first.port)
  await expect(page.locator('.alive')).toHaveText('stopped')
  await second.stop()
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`no view breaks the rules of WCAG A and AA, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    for (const { title, href } of await views(page)) {
      await page.goto(server.url + '/' + href)
      await expect(page).toHaveTitle(title + ' – run')
      await settle(page, title)
      await accessible(page, `${colorScheme}, ${title}`)
    }
  })
}

// settle waits until a view shows what it has to show, with all of it unfolded.
async function settle(page: Page, title: string): Promise<void> {
  const shown: Record<string, string> = { Overview: '.stage', Learning: '.match', Games: '.list a', Nets: '.lineage circle', Actors: 'td' }
  await expect(page.locator(shown[title] ?? 'main h2').first()).toBeVisible()
  if (title === 'Games') {
    await page.getByRole('button', { name: 'Page through all stored games' }).click()
    await expect(page.getByLabel('Segment')).toBeVisible()
    await page.locator('.list a').first().click()
    await expect(page.locator('.moves button').first()).toBeVisible()
  }
  for (const d of await page.locator('main details:visible').all()) await d.evaluate((e: HTMLDetailsElement) => { e.open = true })
}
