import { AsyncLocalStorage } from 'node:async_hooks'
import { randomFillSync } from 'node:crypto'
import { systemClock } from './clock.ts'

/** Where a piece of work belongs in the work of several programs (W3C Trace Context). */
export interface Trace {
  /** 32 hexadecimal digits: of everything that one cause has set off. */
  readonly traceId: string
  /** 16 hexadecimal digits: of this piece of work. */
  readonly spanId: string
  /** The piece of work that it is a part of. */
  readonly parentId?: string
  /** Whether spans of it are recorded. */
  readonly isSampled: boolean
  /** The `tracestate`, which other programs read. */
  readonly state?: string
}

const current = new AsyncLocalStorage<Trace | undefined>()

/** The trace of the work that runs now; undefined outside of any. */
export function currentTrace(): Trace | undefined {
  return current.getStore()
}

/** Runs the work, and everything that it awaits, in this trace. */
export function runInTrace<T>(trace: Trace, work: () => T): T {
  return current.run(trace, work)
}

/** The listener, which a later caller of another trace runs in the current one, or outside of any. */
export function bindTrace(listener: () => void): () => void {
  const trace = current.getStore()
  return () => current.run(trace, listener)
}

/** The work on one argument, bound as by {@link bindTrace}. */
export function bindWork<A, T>(work: (argument: A) => T): (argument: A) => T {
  const trace = current.getStore()
  return (argument) => current.run(trace, () => work(argument))
}

/** A piece of work that has ended. */
export interface TraceSpan {
  readonly name: string
  /** `server`: a request from outside; `client`: a call that leaves; `producer`: a message for the bus. */
  readonly kind: 'internal' | 'server' | 'client' | 'producer'
  readonly trace: Trace
  /** Epoch milliseconds. */
  readonly startedAt: number
  readonly durationMs: number
  readonly attributes: Readonly<Record<string, string | number>>
  readonly isFailed: boolean
}

let recorder: ((span: TraceSpan) => void) | undefined

/** Passes the spans of this process on from now on; undefined: to nobody. Without it none is made. */
export function recordSpans(record: typeof recorder): void {
  recorder = record
}

/** Whether spans are recorded at all. */
export function isRecording(): boolean {
  return recorder !== undefined
}

/** A trace that begins here. */
export function newTrace(isSampled = recorder !== undefined): Trace {
  return { traceId: randomHex(16), spanId: randomHex(8), isSampled }
}

/** Records the end of a piece of work that has lasted so long; the trace says whether. */
export function recordSpan(span: Omit<TraceSpan, 'startedAt'>): void {
  if (recorder && span.trace.isSampled) recorder({ ...span, startedAt: systemClock.now() - span.durationMs })
}

type SpanWork = Pick<TraceSpan, 'name' | 'kind'> & Partial<Pick<TraceSpan, 'attributes'>>

/** Runs the work in this trace, as a span of it. */
export async function runInSpan<T>(trace: Trace, span: SpanWork, work: () => Promise<T>): Promise<T> {
  if (!recorder || !trace.isSampled) return runInTrace(trace, work)
  const begin = systemClock.monotonic()
  let isFailed = true
  try {
    const result = await runInTrace(trace, work)
    isFailed = false
    return result
  } finally {
    recordSpan({ attributes: {}, ...span, trace, durationMs: systemClock.monotonic() - begin, isFailed })
  }
}

/** Runs the work as a part of the current trace; outside of any as it is. */
export function runInPart<T>(span: SpanWork, work: () => Promise<T>): Promise<T> {
  const trace = current.getStore()
  return recorder && trace?.isSampled ? runInSpan(childTrace(trace), span, work) : work()
}

/** A part of the work of that trace. */
function childTrace({ traceId, spanId, isSampled, state }: Trace): Trace {
  return {
    traceId,
    spanId: randomHex(8),
    parentId: spanId,
    isSampled,
    ...(state !== undefined && { state }),
  }
}

/** By names in lower case; Node.js joins the values of several headers of one name. */
type GivenHeaders = Readonly<Record<string, string | string[] | undefined>>

/**
 * The trace of a request: a part of the one that its headers name, else a new one. Without a valid `traceparent` its
 * `tracestate` is dropped (W3C Trace Context, section 3.2).
 */
export function receivedTrace(headers: GivenHeaders): Trace {
  const { traceparent, tracestate } = headers
  const parent = typeof traceparent === 'string' ? parseTraceparent(traceparent) : undefined
  if (!parent) return newTrace()
  const state = tracestate === undefined ? undefined : parseTracestate(String(tracestate))
  return childTrace(state === undefined ? parent : { ...parent, state })
}

/** The headers of a call that belongs to the trace; none without a trace. */
export function traceHeaders(trace = current.getStore()): Readonly<Record<string, string>> {
  if (!trace) return {}
  const traceparent = traceparentOf(trace)
  return trace.state === undefined ? { traceparent } : { traceparent, tracestate: trace.state }
}

/** The variables of a program that belongs to the trace (OpenTelemetry, Environment Variables as Context Propagation Carriers). */
export function traceEnvironment(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(traceHeaders()).map(([name, value]) => [name.toUpperCase(), value]),
  )
}

function traceparentOf({ traceId, spanId, isSampled }: Trace): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

/** The current trace as one text, for a row of the database; null outside of any. */
export function storedTrace(trace = current.getStore()): string | null {
  if (!trace) return null
  return trace.state === undefined ? traceparentOf(trace) : `${traceparentOf(trace)} ${trace.state}`
}

/** The headers of a call that belongs to the trace of a row. */
export function storedTraceHeaders(stored: string | null): Readonly<Record<string, string>> {
  if (stored === null) return {}
  const [traceparent, tracestate] = splitOnce(stored)
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}

/** A part of the trace of a row; a new trace for a row without one. */
export function continuedTrace(stored: string | null): Trace {
  return receivedTrace(storedTraceHeaders(stored))
}

function splitOnce(stored: string): [string, string?] {
  const end = stored.indexOf(' ')
  return end === -1 ? [stored] : [stored.slice(0, end), stored.slice(end + 1)]
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/
const LENGTH = 55
const SAMPLED = 1

/** A later version may have more parts behind a hyphen; those of version 00 are all there are. */
function parseTraceparent(value: string): Trace | undefined {
  const [, version, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(value) ?? []
  if (version === undefined || version === 'ff' || isZero(traceId) || isZero(spanId)) return undefined
  if (value.length > LENGTH && (version === '00' || value[LENGTH] !== '-')) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 }
}

function isZero(digits: string): boolean {
  return /^0+$/.test(digits)
}

/** Whether a header names a trace. */
export function isTraceparent(value: string | undefined): boolean {
  return value !== undefined && parseTraceparent(value) !== undefined
}

const MEMBER = /^[a-z0-9][a-z0-9_*/@-]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256}$/
const MAX_MEMBERS = 32
// What every program passes on at least (W3C Trace Context, section 3.3.1.5).
const MAX_STATE = 512

/** The members, without the last ones if they are too long together; undefined if it is none. */
function parseTracestate(value: string): string | undefined {
  const members = value.split(',', MAX_MEMBERS * 2).flatMap((member) => member.trim() || [])
  const isValid = members.every((member) => MEMBER.test(member))
  if (!isValid || members.length === 0 || members.length > MAX_MEMBERS) return undefined
  while (members.join(',').length > MAX_STATE) members.pop()
  return members.length === 0 ? undefined : members.join(',')
}

// One call for many ids: each costs more than the bytes that it returns.
const RANDOM = Buffer.alloc(4_096)
let used = RANDOM.length

/** Never all zeros: that is no id. */
function randomHex(bytes: number): string {
  if (used + bytes > RANDOM.length) {
    randomFillSync(RANDOM)
    used = 0
  }
  const text = RANDOM.toString('hex', used, used + bytes)
  used += bytes
  return isZero(text) ? randomHex(bytes) : text
}
