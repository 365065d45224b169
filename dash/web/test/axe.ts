// What axe-core says of a page by the rules of WCAG 2.0 to 2.2, A and AA.

import { AxeBuilder } from '@axe-core/playwright'
import { expect, type Page } from '@playwright/test'

// accessible prints how many rules a page passes, and fails if it breaks one.
export async function accessible(page: Page, what: string): Promise<void> {
  const found = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa']).analyze()
  console.log(`axe, ${what}: ${found.passes.length} rules passed, ${found.violations.length} violated, ${found.incomplete.length} undecided`)
  expect(found.violations.map(v => `${what}: ${v.id}: ${v.nodes.map(n => `${n.target.join(' ')} ${n.html}`).join(', ')}`)).toEqual([])
  expect(found.passes.length).toBeGreaterThan(10)
}
