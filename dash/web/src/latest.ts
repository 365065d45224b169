import { get, type State } from './api'

// latest shows an answer of the server and asks for it again when its version has
// changed. What it returns is to be called with every state.
export function latest<T>(of: keyof State['versions'], show: (answer: T, s: State) => void, failed: (words: string) => void): (s: State) => void {
  let version = -1, asked = false

  async function load(s: State): Promise<void> {
    asked = true
    try {
      show(await get<T>(of), s)
      version = s.versions[of]
    } catch (e) {
      failed(e instanceof Error ? e.message : String(e))
    } finally {
      asked = false
    }
  }

  return s => {
    if (!asked && s.versions[of] !== version) void load(s)
  }
}
