// What the server says, as package dash has it.

export interface Figure { name: string; value: number | null; unit: string; text: string }
export interface Stage { id: string; name: string; mode: 'working' | 'waiting' | 'stopped' | 'unknown'; state: string; waits_for: string; figures: Figure[] }
export interface Link { from: string; name: string; value: number | null; unit: string; flows: boolean }
export interface Progress { generation: number; pairs: number; of: number; llr: number; low: number; high: number }
export interface Part { name: string; share: number; used: number; earns: number | null; margin: number | null }
export interface State {
  time: string
  watch: string
  run: { name: string; id: string; build: string; variant: string; preset: string; kind: string }
  live: boolean
  stopped: boolean
  elapsed_s: number
  stages: Stage[]
  links: Link[]
  gate: Progress | null
  division: Part[] | null
  findings: string[]
  events: { time: string; text: string }[]
  versions: { learning: number; games: number; nets: number; actors: number; boards: number; comparison: number }
  comparison: boolean
  servers: boolean
  control: boolean
}

export interface Strength { time: string; generation: number; games: number | null; elo: number; margin: number | null; sum: number; error: number; matches: number; no_error: number }
export interface Offered {
  time: string; generation: number; net: string; step: number; games: number; held_out_loss: number; score_loss: number
  result_loss: number; sign_accuracy: number; export_mean_raw: number; export_max_raw: number
}
export interface Judged { time: string; candidate: number; net: string; incumbent: string; passed: boolean; reason: string; elo: string; games: number }
export interface Match {
  candidate: string; incumbent: string; generation: number; verdict: string; reason: string; of: number; path: number[]
  low: number; high: number; elo0: number; elo1: number; wins: number; draws: number; losses: number; written: string
}
export interface RatedNet {
  net: string; generation: number; offered: string; stored: number; rated: string; limits: string; elo: number; low: number; high: number; games: number
  scores: { opponent: string; elo: number; games: number; score: number }[]
}
export interface Learning {
  strength: Strength[]
  offered: Offered[]
  judged: Judged[]
  matches: Match[]
  ladder: { nets: RatedNet[]; others: number; command: string; no_command: '' | 'nets' | 'opponents' }
  window: { rows: number; whole: boolean; by: { net: string; generation: number; games: number; rows: number }[]; mean: number | null } | null
  counts: { offered: number; judged: number; passed: number; missed: number }
  untold: string
  cores: { actor: number; gate: number; trainer: number; cpus: number; allocator: boolean } | null
}

export interface GameLine { id: string; actor: string; place: string; result: string; reason: string; plies: number; generations: [number, number]; book: boolean }
export interface Games { games: GameLine[]; total: number; published: boolean }
export interface Stored { games: GameLine[]; older: string; first: number; last: number; damage: string[] }
export interface Place { fen: string; san: string; uci: string; check: boolean; score: number | null; mate: number | null; win: number | null; train: boolean }
export interface BoardLine extends Place { actor: string; game: string; generations: [number, number]; plies: number; line: string; result: string; reason: string }
export interface Boards { live: boolean; list: BoardLine[]; more: number }
export interface Replayed extends GameLine { nets: [string, string]; limits: string; build: string; positions: Place[]; pgn: string }

export interface NetLine extends Offered { on_disk: boolean; samples: number; verdict: string; over: string; elo: string; reason: string; seconds: number; ungated: boolean }
export interface Nets {
  current: string
  newest: { kind: string; features: string; architecture: string; size: number; seed: number; build: string } | null
  list: NetLine[]
  total: number
  width: number
}

export interface Member {
  role: string; instance: string; host: string; pid: number; build: string; protocol: number; since: string; seen: string; state: string
  net: string; generation: number; games: number; rate: number; waiting: number; failed: string
}
export interface ActorLine { name: string; games: number; rate: number; seen: string | null; net: string; generation: number; build: string; refused: number }
export interface Actors {
  time: string
  members: Member[] | null
  present: number
  asked: string | null
  problem: string
  build: string
  actors: ActorLine[]
  counted: number
  refused: { time: string; actor: string; reason: string }[]
}

export interface MatrixCell { pairs: number; of: number; score: number; elo: number; low: number; high: number; rated: boolean; found: boolean }
export interface CompareRow { name: string; expression: string; nets: string; figures: Record<string, { value: number; margin: number }> }
export interface Comparison {
  time: string
  progress: {
    time: string; work: string; nets: number; nets_of: number; pairs: number; pairs_of: number; puzzled: number; puzzled_of: number; eta_seconds: number
  } | null
  over: boolean
  said: string[]
  warnings: string[]
  columns: { id: string; title: string; digits: number }[]
  rows: CompareRow[]
  stages: { stage: string; limits: string; players: string[]; cells: MatrixCell[][] }[]
}

// The run that a report has in itself: what the server would have said, by path.
const carried = document.getElementById('run')
const report: Record<string, unknown> | null = carried ? JSON.parse(carried.textContent!) : null

// carriedState is the state that a report shows; null: the page has a server.
export const carriedState = report ? (report.state as State) : null

export async function get<T>(path: string): Promise<T> {
  if (report) {
    const id = decodeURIComponent(path)
    if (!Object.hasOwn(report, id)) throw new Error('this is not part of the report')
    return report[id] as T
  }
  const response = await fetch('api/' + path, { cache: 'no-store' })
  const data = await response.json()
  if (!response.ok) throw new Error(data.error ?? `the server answered ${response.status}`)
  return data as T
}

export interface Choice { uci: string; san: string }
export interface Table { start: string; positions: Place[]; legal: Choice[]; result: string; end: string; pgn: string }
export interface Opponent { name: string; net: string; variant: string; elo: number[]; nodes: number; seconds: number }
export interface Level { elo?: number; nodes?: number; seed?: number }
export interface Question { fen?: string; moves: string[]; move?: string; level?: Level; person?: '' | 'white' | 'black' }
export interface Reply { table: Table; san: string; place: Place; depth: number; nodes: number; opponent: string }

const patience = 20 // times that a busy server is asked

// ask sends a question. A server that searches for others is asked again each second.
export async function ask<T>(path: string, question: object, signal: AbortSignal): Promise<T> {
  for (let times = 1; ; times++) {
    const response = await fetch('api/ask/' + path, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(question), cache: 'no-store', signal,
    })
    if (response.status === 503 && times < patience) {
      await new Promise(go => setTimeout(go, 1000))
      signal.throwIfAborted()
      continue
    }
    const text = await response.text()
    let data
    try {
      data = JSON.parse(text)
    } catch {
      throw new Error(text.trim() || `the server answered ${response.status}`)
    }
    if (!response.ok) throw new Error(data.error ?? `the server answered ${response.status}`)
    return data as T
  }
}

export interface Told { table: Table; white: string; black: string; result: string; more: boolean }
export interface Line { cp?: number; mate?: number; win: number; draw: number; loss: number; uci: string[]; san: string[] }
export interface Threat { uci: string; san: string; check: boolean; mate: number; gain: number; line: string }
export interface Analysis { net: string; fen: string; ended?: string; depth: number; nodes: number; lines: Line[]; threats: Threat[] }
export interface Seen { active: number[]; squares: (number | null)[]; hands: Record<string, number> }
export interface Block { name: string; means: string; size: number; sides: [Seen, Seen] }
export interface Plane { name: string; constant: boolean; values: number[] }
export interface Inputs { net: string; features: string; blocks: Block[]; planes: Plane[] }
