import { createHash, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { AppError, requireFound } from '../../kernel/errors.ts'
import type { Counter } from '../../kernel/metrics.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { TokenBucket } from '../../kernel/waiting.ts'
import { HOUR, SECOND, toRfc3339 } from '../../kernel/time.ts'
import { declaredAlarmId } from '../../kernel/alerts.ts'
import type { PlatformAlert, PlatformAlerts } from '../../ports/alerts.ts'
import type { EventSink } from '../../ports/events.ts'
import type { Queries, ServiceDeps, Tx } from '../../store/store.ts'
import {
  applySignal,
  durationOf,
  hasSettings,
  HEARTBEAT_ALERTS,
  HEARTBEAT_EVENTS,
  isFailure,
  newHeartbeat,
  withSettings,
  type AlertHeartbeat,
  type HeartbeatEvent,
  type HeartbeatSettings,
  type Ping,
  type RunSignal,
  type StoredHeartbeat,
} from './model.ts'
import {
  addPing,
  bringForward,
  deleteHeartbeat,
  findAnyHeartbeat,
  findHeartbeat,
  findNameByHash,
  insertHeartbeat,
  listAges,
  listHeartbeats,
  listMissed,
  listOverdue,
  listPings,
  lockHeartbeat,
  markMissed,
  postpone,
  recordCheck,
  updateHeartbeat,
} from './store.ts'

/** What the heartbeat domain needs of the rest of the platform. */
export interface HeartbeatDeps extends ServiceDeps {
  readonly events: EventSink<AlertHeartbeat>
  readonly alerts: PlatformAlerts
  /** Where people open the console, and programs reach `/ping`; undefined where that is not configured. */
  readonly consoleUrl: string | undefined
}

/** A ping by the address of a heartbeat. */
export interface TokenPing extends RunSignal {
  readonly token: string
  readonly remoteAddress: string
  readonly body: string
}

// docs/specification.md, Heartbeats
const KEPT_PINGS = 100
const PING_LIMIT = { burst: 30, everyMs: SECOND }
const DONE: RunSignal = { kind: 'done', exitCode: null }

/** How often a worker looks for missed heartbeats. */
export const CHECK_EVERY_MS = 5 * SECOND
// The first check of a process counts as punctual if it follows the last one within this time. Its later checks may be
// late.
const PUNCTUAL_MS = 1.5 * CHECK_EVERY_MS
// Clocks of two hosts differ by less.
const CLOCK_DIFFERENCE_MS = 2 * CHECK_EVERY_MS

interface CheckTime {
  readonly now: number
  readonly monotonic: number
  /** The last one of this process, by both clocks. */
  readonly before: typeof NO_CHECK
}

const NO_CHECK = { at: Number.NaN, monotonic: 0 }

/** Dead man's switches: an alert is raised when the beats of a program stop. */
export class Heartbeats {
  readonly #deps: HeartbeatDeps
  readonly #beats: Counter
  readonly #changes: Counter
  /** By the name of the heartbeat. */
  readonly #pingLimits = new Map<string, TokenBucket>()
  /** When the log has named an address last that pings no heartbeat. */
  readonly #strays = new LRUCache<string, number>({ max: MOST_STRAYS })
  /** The last check of this process, by both clocks. */
  #lastCheck = NO_CHECK

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps
    this.#beats = deps.metrics.counter({ name: 'heartbeat_beats_total', help: 'Beats of heartbeats.' })
    this.#changes = deps.metrics.counter({
      name: 'heartbeat_changes_total',
      help: 'Heartbeats that were created, changed, deleted, missed, or beat again after that.',
      labels: { change: Object.keys(HEARTBEAT_EVENTS) },
    })
  }

  /** Creates a heartbeat, or changes its settings; the time until the next beat then begins again. */
  async put(
    tx: Tx,
    name: string,
    settings: HeartbeatSettings,
    actor: string,
  ): Promise<
    | { heartbeat: AlertHeartbeat; outcome: 'created'; pingUrl: string }
    | { heartbeat: AlertHeartbeat; outcome: 'changed' | 'unchanged' }
  > {
    const at = this.#deps.clock.now()
    const token = newPingToken()
    const fresh = { ...newHeartbeat(name, settings, actor, at), pingHash: hashPingToken(token) }
    // Checks are recorded only while there are heartbeats: the time before the first heartbeat is no absence of the
    // workers.
    if (!(await findAnyHeartbeat(tx))) await recordCheck(tx, at)
    for (;;) {
      if (await insertHeartbeat(tx, fresh)) {
        await this.#record(tx, 'created', fresh, actor)
        return { heartbeat: fresh, outcome: 'created', pingUrl: this.#pingUrl(token) }
      }
      const known = await lockHeartbeat(tx, name)
      // Deleted meanwhile; then the insertion succeeds.
      if (!known) continue
      if (hasSettings(known, settings)) return { heartbeat: known, outcome: 'unchanged' }
      const changed = { ...known, ...withSettings(known, settings, actor, at) }
      const heartbeat = await updateHeartbeat(tx, changed)
      await this.#record(tx, 'changed', heartbeat, actor)
      return { heartbeat, outcome: 'changed' }
    }
  }

  /** Newest first. */
  list(page: PageRequest): Promise<Page<AlertHeartbeat>> {
    return listHeartbeats(this.#deps.store.read, {}, page)
  }

  /** The heartbeat of that name, if there is one. */
  find(name: string, queries: Queries = this.#deps.store.read): Promise<AlertHeartbeat | undefined> {
    return findHeartbeat(queries, name)
  }

  /** The heartbeats that are missed now, the longest missed first. */
  missed(): Promise<AlertHeartbeat[]> {
    return listMissed(this.#deps.store.read)
  }

  /** Rejects with `heartbeat_not_found`. */
  async get(name: string): Promise<AlertHeartbeat> {
    return requireFound(await this.find(name), 'heartbeat', name)
  }

  /** The pings of a heartbeat, newest first. Rejects with `heartbeat_not_found`. */
  async pings(name: string, page: PageRequest): Promise<Page<Ping>> {
    await this.get(name)
    return listPings(this.#deps.store.read, { heartbeat: name }, page)
  }

  /** Records a beat, which recovers the alert of a missed one. Rejects with `heartbeat_not_found`. */
  async beat(tx: Tx, name: string, actor: string): Promise<void> {
    const known = requireFound(await lockHeartbeat(tx, name), 'heartbeat', name)
    await this.#apply(tx, known, { ...DONE, remoteAddress: null, body: '' }, actor)
  }

  /** The name of the heartbeat with this token. Rejects with `ping_not_found`, and with `rate_limited` for too many. */
  async admitPing(token: string, remoteAddress: string | null): Promise<string> {
    const name = await findNameByHash(this.#deps.store.read, hashPingToken(token))
    if (name === undefined) {
      this.#noteStray(remoteAddress ?? 'unknown')
      throw unknownPing()
    }
    const limit = this.#pingLimits.getOrInsertComputed(
      name,
      () => new TokenBucket(PING_LIMIT, () => this.#deps.clock.monotonic()),
    )
    const waitMs = limit.take()
    if (waitMs > 0) throw tooManyPings(name, waitMs)
    return name
  }

  /** The program of a missed heartbeat may run, and call another address. */
  #noteStray(remoteAddress: string): void {
    const { clock, logger } = this.#deps
    const lastAt = this.#strays.get(remoteAddress)
    if (lastAt !== undefined && clock.monotonic() - lastAt < HOUR) return
    this.#strays.set(remoteAddress, clock.monotonic())
    logger.warn({ remote_address: remoteAddress }, STRAY_PING)
  }

  /** Records what a program says about its run. Rejects with `ping_not_found` if the token is no longer that of the name. */
  async ping(tx: Tx, name: string, { token, ...signal }: TokenPing): Promise<void> {
    const known = await lockHeartbeat(tx, name)
    if (known?.pingHash !== hashPingToken(token)) throw unknownPing()
    await this.#apply(tx, known, signal, 'ping')
  }

  /** Gives a heartbeat another address for its pings; the one before ends. Rejects with `heartbeat_not_found`. */
  async rotate(tx: Tx, name: string, actor: string): Promise<{ heartbeat: AlertHeartbeat; pingUrl: string }> {
    const known = requireFound(await lockHeartbeat(tx, name), 'heartbeat', name)
    const token = newPingToken()
    const at = this.#deps.clock.now()
    const changed = { ...known, pingHash: hashPingToken(token), updatedBy: actor, updatedAt: at }
    const heartbeat = await updateHeartbeat(tx, changed)
    await this.#record(tx, 'changed', heartbeat, actor)
    return { heartbeat, pingUrl: this.#pingUrl(token) }
  }

  /** Deletes a heartbeat and recovers its alert. Rejects with `heartbeat_not_found`. */
  async remove(tx: Tx, name: string, actor: string): Promise<void> {
    const known = requireFound(await lockHeartbeat(tx, name), 'heartbeat', name)
    await deleteHeartbeat(tx, name)
    if (known.missedAt !== null) await this.#recover(tx, known, 'The heartbeat was deleted.')
    this.#pingLimits.delete(name)
    const updatedAt = this.#deps.clock.now()
    const deleted = { ...known, updatedBy: actor, updatedAt, version: known.version + 1 }
    await this.#record(tx, 'deleted', deleted, actor)
  }

  /** Raises an alert for each heartbeat that is missed. Time in which no worker called this does not count. */
  async checkDue(): Promise<void> {
    const { store, clock } = this.#deps
    if (!(await findAnyHeartbeat(store.read))) return
    const now = clock.now()
    const monotonic = clock.monotonic()
    const before = this.#lastCheck
    // While the database cannot be reached, nobody can beat. Until a check succeeds again, this process counts as absent.
    this.#lastCheck = NO_CHECK
    await store.write((tx) => this.#recordCheck(tx, { now, monotonic, before }))
    this.#lastCheck = { at: now, monotonic }
    for (const name of await listOverdue(store.read, now))
      await store.write((tx) => this.#miss(tx, name, now))
  }

  /** The time since the last beat of each heartbeat, or since its creation, in milliseconds. */
  async ages(): Promise<{ name: string; ageMs: number }[]> {
    const { store, clock } = this.#deps
    const now = clock.now()
    return (await listAges(store.read)).map(({ name, since }) => ({ name, ageMs: now - since }))
  }

  async #apply(
    tx: Tx,
    known: StoredHeartbeat,
    { remoteAddress, body, ...signal }: Omit<Ping, 'at' | 'durationSeconds'>,
    actor: string,
  ): Promise<void> {
    const at = this.#deps.clock.now()
    const changed = applySignal(known, signal, at)
    const endsRun = signal.kind !== 'log' && signal.kind !== 'start'
    const durationSeconds = endsRun ? durationOf(known, at) : null
    await addPing(tx, known.name, { ...signal, at, durationSeconds, remoteAddress, body }, KEPT_PINGS)
    const heartbeat = changed === known ? known : await updateHeartbeat(tx, changed)
    if (isFailure(signal)) {
      await this.#deps.alerts.raise(tx, missedAlert(heartbeat, failureText(signal)))
      if (known.missedAt === null) await this.#record(tx, 'missed', heartbeat, actor)
    } else if (known.missedAt !== null && heartbeat.missedAt === null) {
      await this.#recover(tx, known, 'A beat has come.')
      await this.#record(tx, 'recovered', heartbeat, actor)
    }
    if (endsRun) tx.afterCommit(() => this.#beats.increment())
  }

  #pingUrl(token: string): string {
    const path = `/ping/${token}`
    const { consoleUrl } = this.#deps
    return consoleUrl === undefined ? path : new URL(path, consoleUrl).href
  }

  async #recordCheck(tx: Tx, check: CheckTime): Promise<void> {
    const { now } = check
    const uncountedMs = uncountedSince(await recordCheck(tx, now), check)
    if (uncountedMs > 0) await postpone(tx, now - uncountedMs, now)
    if (uncountedMs < 0) await bringForward(tx, -uncountedMs, now)
  }

  async #miss(tx: Tx, name: string, now: number): Promise<void> {
    if (!(await markMissed(tx, name, now))) return
    const heartbeat = requireFound(await lockHeartbeat(tx, name), 'heartbeat', name)
    await this.#deps.alerts.raise(tx, missedAlert(heartbeat, missText(heartbeat)))
    await this.#record(tx, 'missed', heartbeat, 'worker')
  }

  async #recover(tx: Tx, heartbeat: AlertHeartbeat, body: string): Promise<void> {
    await this.#deps.alerts.raise(tx, { ...missedAlert(heartbeat, body), severity: 'CLOSE' })
  }

  /** Writes the event of a change, and logs and counts it after the commit. */
  async #record(tx: Tx, change: HeartbeatEvent, data: AlertHeartbeat, actor: string): Promise<void> {
    const { events, logger } = this.#deps
    await events.append(tx, { type: HEARTBEAT_EVENTS[change], subject: data.name, data })
    tx.afterCommit(() => {
      this.#changes.increment({ change })
      logger.info({ heartbeat: data.name, actor }, `heartbeat ${change}`)
    })
  }
}

/**
 * The time since the last check that does not count for heartbeats: no worker ran, or the clock was set. A process that has
 * checked before was there, so only the difference of its clocks does not count; once for all workers.
 */
function uncountedSince(last: number, { now, monotonic, before }: CheckTime): number {
  const passed = now - last
  const isFar = passed > PUNCTUAL_MS || passed < -CLOCK_DIFFERENCE_MS
  if (Number.isNaN(before.at)) return isFar ? passed : 0
  const difference = now - before.at - (monotonic - before.monotonic)
  const isNew = last === before.at || isFar
  return isNew && Math.abs(difference) >= SECOND ? difference : 0
}

const MOST_STRAYS = 1_000
const STRAY_PING =
  'a ping has the address of no heartbeat: if one of that host is missed, give its program the present address'

function unknownPing(): AppError {
  return new AppError('not_found', 'ping_not_found', 'No heartbeat has this address.')
}

function tooManyPings(name: string, waitMs: number): AppError {
  return new AppError('rate_limited', 'rate_limited', `The heartbeat ${name} gets too many pings.`, {
    retryAfterSeconds: Math.ceil(waitMs / SECOND),
  })
}

function missText({
  everySeconds,
  schedule,
  timeZone,
  lastBeatAt,
  startedAt,
  maxRunSeconds,
}: AlertHeartbeat) {
  if (startedAt !== null && maxRunSeconds !== null)
    return `The run that began at ${toRfc3339(startedAt)} has not ended within ${maxRunSeconds} seconds.`
  const last = lastBeatAt === null ? 'There was none yet.' : `The last one came at ${toRfc3339(lastBeatAt)}.`
  const expected =
    schedule === null ? `every ${everySeconds} seconds` : `by the schedule ${schedule} (${timeZone ?? 'UTC'})`
  return `A beat was expected ${expected}. ${last}`
}

function failureText({ exitCode }: RunSignal): string {
  return exitCode === null
    ? 'The program says that it has failed.'
    : `The program has ended with ${exitCode}.`
}

function missedAlert({ name, source, severity }: AlertHeartbeat, body: string): PlatformAlert {
  return {
    alarmId: declaredAlarmId(HEARTBEAT_ALERTS, 'heartbeat.missed:*', name),
    source,
    title: `The heartbeat ${name} was missed`,
    body,
    severity,
  }
}

/** The secret part of the address of a heartbeat: 128 random bits as hex digits. */
function newPingToken(): string {
  return randomBytes(16).toString('hex')
}

/**
 * The hash of a token, which is stored instead of it. Tokens are random, so that the hash needs neither salt nor
 * repetition.
 */
function hashPingToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
