// Numbers and times as a person reads them.

export function number(v: number | null | undefined): string {
  if (v === null || v === undefined || !Number.isFinite(v)) return '–'
  const size = Math.abs(v)
  if (size >= 1e6) return (v / 1e6).toFixed(2) + ' M'
  if (size >= 1e4) return (v / 1e3).toFixed(1) + ' k'
  if (Number.isInteger(v)) return v.toLocaleString('en')
  if (size >= 100) return Math.round(v).toLocaleString('en')
  if (size >= 1) return v.toFixed(1)
  return v.toPrecision(3)
}

// tick labels an axis: in full, without zeros after the point.
export function tick(v: number): string {
  return Math.abs(v) >= 1e6 ? `${Number((v / 1e6).toPrecision(6))} M` : v.toLocaleString('en', { maximumSignificantDigits: 6 })
}

// count says how many of something there are: "1 match", "2 matches".
export const count = (n: number, one: string, many: string): string => `${number(n)} ${n === 1 ? one : many}`

export const loss = (v: number): string => (v > 0 ? v.toFixed(5) : '–')
// fixed has so many digits after the point; what is rounded to zero has no sign.
export function fixed(v: number, digits: number): string {
  const text = Math.abs(v).toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  return v < 0 && /[1-9]/.test(text) ? '−' + text : text
}
export function signed(v: number, digits = 0): string {
  const text = fixed(v, digits)
  return v > 0 && /[1-9]/.test(text) ? '+' + text : text
}

// estimate rounds an Elo with its margin, as a match tells it ("88.58 +/- 172.90"), to
// whole Elo. What has no finite value stays "n/a".
export function estimate(elo: string): string {
  const [value, margin] = elo.split(' +/- ')
  if (!Number.isFinite(Number(value))) return elo
  return `${signed(Number(value))} ± ${Number.isFinite(Number(margin)) ? fixed(Number(margin), 0) : 'n/a'}`
}
export const percent = (v: number, digits = 1): string => (100 * v).toFixed(digits) + ' %'
export const short = (id: string): string => (id.length === 64 ? id.slice(0, 8) : id || '–')
// A time that is not known is before 1970.
export const known = (iso: string): boolean => Date.parse(iso) > 0
export const day = (iso: string): string => !known(iso) ? '–' : new Date(iso).toLocaleString([], { dateStyle: 'short', timeStyle: 'short', hourCycle: 'h23' })
// clock is a time of today to the second; of another day it is the day too.
export const clock = (iso: string): string => new Date(iso).toDateString() !== new Date().toDateString() ? day(iso)
  : new Date(iso).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })

export function duration(seconds: number): string {
  const s = Math.floor(seconds), h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60
  if (h > 0) return `${h} h ${m} min`
  if (m > 0) return `${m} min ${s % 60} s`
  return `${s} s`
}

// limits says the limits of a search, which games have in UCI's words.
export const limits = (l: string): string => l.replace(/\bnodes (\d+)/g, '$1 nodes').replace(/\bmovetime (\d+)/g, '$1 ms')

// sentence begins with a capital letter.
export const sentence = (s: string): string => s.charAt(0).toUpperCase() + s.slice(1)

// A generation that is not known is -1.
export const generation = (g: number): string => (g > 0 ? `generation ${g}` : g === 0 ? 'before the first net' : 'generation unknown')
