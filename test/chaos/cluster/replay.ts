import { execFile } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { changeStream, readReplicas } from '../../support/bus-reader.ts'
import type { Cluster } from '../../support/hosts/cluster.ts'
import { inSandbox } from '../../support/hosts/sandbox.ts'
import { PROGRAM } from '../../support/platform.ts'

// Losses that are closer are of one fault.
const GAP_MS = 60_000
const NANOSECONDS_PER_MS = 1_000_000
// Instead of 30 minutes, as an operator may set it: a stream takes a message that it has lost only after this time.
const DUPLICATE_WINDOW_MS = 2 * 60_000
// Clocks differ by minutes in some faults.
const LONGEST_WAIT_MS = 4 * DUPLICATE_WINDOW_MS

/** A message that the bus has confirmed. */
interface Delivered {
  readonly id: string
  /** Epoch milliseconds. */
  readonly at: number
}

/** The messages of a bus that has lost some of them. */
export interface Replay {
  /** Ids of the confirmed messages that a replica of the stream does not have. */
  readonly lost: ReadonlySet<string>
  /** Ids of all messages of the replayed times. */
  readonly replayed: ReadonlySet<string>
}

/** Sends again what NATS has confirmed and lost, as an operator would: all messages of the time around each loss. */
export async function replayLost(cluster: Cluster, last: number): Promise<Replay> {
  const delivered = await readDelivered(cluster, last)
  const replicas = await readReplicas(cluster.bus.servers.split(','), 'PLATFORM')
  const stored = replicas.map(({ messages }) => new Set(messages.map(({ id }) => id)))
  const lost = delivered.filter(({ id }) => stored.some((ids) => !ids.has(id)))
  const spans = spansOf(lost)
  await pause(untilForgotten(lost))
  for (const span of spans) await replay(cluster, span)
  const replayed = delivered.filter(({ at }) => spans.some(({ since, until }) => at >= since && at < until))
  return { lost: idsOf(lost), replayed: idsOf(replayed) }
}

/** Lets the stream forget ids soon. */
export function shortenDuplicateWindow({ bus }: Cluster): Promise<void> {
  return changeStream(bus.servers.split(','), 'PLATFORM', {
    duplicate_window: DUPLICATE_WINDOW_MS * NANOSECONDS_PER_MS,
  })
}

/** Milliseconds until the stream takes the last one of these messages again. */
function untilForgotten(lost: readonly Delivered[]): number {
  const newest = Math.max(0, ...lost.map(({ at }) => at))
  const wait = newest + 2 * DUPLICATE_WINDOW_MS - Date.now()
  return Math.min(Math.max(0, wait), LONGEST_WAIT_MS)
}

async function readDelivered({ postgres }: Cluster, last: number): Promise<Delivered[]> {
  const rows = await postgres.rows(
    `select id, delivered_at from messages where seq <= ${last} and status = 'delivered' order by delivered_at`,
  )
  return rows.map((row) => ({ id: String(row['id']), at: Number(row['delivered_at']) }))
}

interface Span {
  readonly since: number
  readonly until: number
}

/** The times around each group of losses, which are in the order of their times. */
function spansOf(lost: readonly Delivered[]): readonly Span[] {
  const spans: Span[] = []
  for (const { at } of lost) {
    const current = spans.at(-1)
    if (current && at - current.until < GAP_MS) spans[spans.length - 1] = { ...current, until: at + 1 }
    else spans.push({ since: at, until: at + 1 })
  }
  return spans
}

async function replay({ postgres }: Cluster, { since, until }: Span): Promise<void> {
  const args = ['--since', new Date(since).toISOString(), '--until', new Date(until).toISOString()]
  await promisify(execFile)(process.execPath, [PROGRAM, 'messages', 'replay', ...args], {
    env: { PATH: process.env['PATH'], DATABASE_URL: postgres.url, DATA_DIR: inSandbox('data-operator') },
  })
}

function idsOf(messages: readonly Delivered[]): ReadonlySet<string> {
  return new Set(messages.map(({ id }) => id))
}
