import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from '@playwright/test'

// The browser is the system's: nothing is downloaded. Times are only there to end what
// hangs: no test depends on how fast the machine is.
export default defineConfig({
  testDir: 'test',
  outputDir: tmpdir() + '/selfplay-browser',
  snapshotPathTemplate: '{testDir}/screens/{arg}{ext}',
  updateSnapshots: 'none',
  workers: 1,
  forbidOnly: true,
  timeout: 600_000,
  reporter: 'list',
  expect: {
    timeout: 180_000,
    toHaveScreenshot: { maxDiffPixelRatio: 0.003, animations: 'disabled' },
  },
  use: {
    locale: 'en-GB',
    timezoneId: 'UTC',
    contextOptions: { reducedMotion: 'reduce' },
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      env: { ...process.env, FONTCONFIG_FILE: fileURLToPath(new URL('test/fonts.conf', import.meta.url)) } as Record<string, string>,
    },
  },
})
