// The program under test: runs that it makes, and the pages that it serves.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from '@playwright/test'

export const binary = fileURLToPath(new URL('../../../bin/selfplay', import.meta.url))

// scratch is a directory that is made when it is first asked for, as a file of tests is
// loaded more often than run, and removed with the tests.
export function scratch(): { readonly dir: string; remove(): void } {
  let dir: string | undefined
  return {
    get dir() {
      return (dir ??= mkdtempSync(join(tmpdir(), 'selfplay-page-')))
    },
    remove() {
      if (dir) rmSync(dir, { recursive: true, force: true })
    },
  }
}

// run runs a command of the program to its end.
export function run(...args: string[]): string {
  const r = spawnSync(binary, args, { encoding: 'utf8', timeout: 500_000 })
  if (r.status !== 0) throw new Error(`selfplay ${args.join(' ')}: exit ${r.status}\n${r.stdout}\n${r.stderr}`)
  return r.stdout
}

export interface Served { url: string; port: string; stop(): Promise<void> }

// serve starts a command of the program that serves a page, and waits until it says where.
export async function serve(...args: string[]): Promise<Served> {
  const child: ChildProcess = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    const hear = (data: Buffer): void => {
      said += data
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said)
      if (found) resolve(found[0])
    }
    child.stdout!.on('data', hear)
    child.stderr!.on('data', hear)
    void ended.then(() => reject(new Error(`selfplay ${args.join(' ')}: ended without a page\n${said}`)))
  })
  return {
    url,
    port: new URL(url).port,
    async stop() {
      child.kill('SIGINT')
      await ended
    },
  }
}

// fixedRun copies the run whose page is always the same: one of the preset tiny, without
// its nets. What the page shows of the times of files is the same too.
export function fixedRun(to: string): string {
  const dir = join(to, 'tiny')
  cpSync(fileURLToPath(new URL('run', import.meta.url)), dir, { recursive: true })
  readdirSync(join(dir, 'gate')).sort().forEach((name, i) => utimesSync(join(dir, 'gate', name), 1_790_000_000 + i, 1_790_000_000 + i))
  return dir
}

// serveFixedRun serves the fixed run in a directory to all tests of the file that calls it.
export function serveFixedRun(home: ReturnType<typeof scratch>): { readonly url: string } {
  let server: Served | undefined
  test.beforeAll(async () => {
    server = await serve('dash', fixedRun(home.dir), '--listen', '127.0.0.1:0')
  })
  test.afterAll(async () => {
    await server?.stop()
    home.remove()
  })
  return {
    get url() {
      return server!.url
    },
  }
}

// fixedComparison is the directory of a small comparison that is over.
export const fixedComparison = fileURLToPath(new URL('../../testdata/comparison', import.meta.url))
