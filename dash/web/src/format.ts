// Numbers and times as a person reads them.

export function number(v: number | null | undefined): string {
  if (v === null || v === undefined || !Number.isFinite(v)) return '–'
  const size = Math.abs(v)
  if (size >= 1e6) return (v / 1e6).toFixed(2) + ' M'
  if (size >= 1e4) return (v / 1e3).toFixed(1) + ' k'
  if (Number.isInteger(v)) return v.toLocaleString('en')
  if (size >= 100) return v.toFixed(0)
  if (size >= 1) return v.toFixed(1)
  return v.toPrecision(3)
}

// count says how many of something there are: "1 match", "2 matches".
export const count = (n: number, one: string, many: string): string => `${number(n)} ${n === 1 ? one : many}`

export const loss = (v: number): string => (v > 0 ? v.toFixed(5) : '–')
export const signed = (v: number, digits = 0): string => (v >= 0 ? '+' : '−') + Math.abs(v).toFixed(digits)
export const percent = (v: number, digits = 1): string => (100 * v).toFixed(digits) + ' %'
export const short = (id: string): string => (id.length === 64 ? id.slice(0, 8) : id || '–')
// A time that is not known is before 1970.
export const known = (iso: string): boolean => Date.parse(iso) > 0
export const clock = (iso: string): string => !known(iso) ? '–' : new Date(iso).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false })
export const day = (iso: string): string => !known(iso) ? '–' : new Date(iso).toLocaleString([], { dateStyle: 'short', timeStyle: 'short', hourCycle: 'h23' })

export function duration(seconds: number): string {
  const s = Math.floor(seconds), h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60
  if (h > 0) return `${h} h ${m} min`
  if (m > 0) return `${m} min ${s % 60} s`
  return `${s} s`
}

export const generation = (g: number): string => (g > 0 ? `generation ${g}` : 'before the first net')
