import {
  INTERVALS_UNTIL_DEAD,
  type Refusal,
  type RegisteredSession,
  type SessionEnd,
  type SessionNews,
  type SessionRegistry,
  type SessionRequest,
  type SessionToken,
} from '../../ports/session-registry.ts'
import { AppError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { SECOND, toRfc3339 } from '../../kernel/time.ts'
import { createLease, type Lease } from '../../store/work/lease.ts'
import type { Tx } from '../../store/store.ts'
import { appendAudit, auditCauseOf } from './audit.ts'
import { closingOf, type SessionCloser } from './closing.ts'
import { findRunning, type GatewayRun, listOtherRuns, markLeft, markSeen } from './gateways.ts'
import { cleanPhrase } from './model.ts'
import { RefusalLimit, type RefusalSummary } from './refusals.ts'
import { Registrations, type RegistryDeps } from './registrations.ts'
import { acknowledgeEnd, findSession, listPendingEnds, recordNews } from './store.ts'

/** The gateway that a registry belongs to. */
export interface RegistryGateway {
  readonly name: string
  /** Where it listens, for people; read again with every beat. */
  readonly address: () => string
  readonly heartbeatMs: number
}

const MAX_ENDS = 1_000
// Other writes run between two batches.
const BATCH = 250
const RESTARTED = closingOf('goingAway', 'gateway_restarted', 'elsewhere')
const STOPPING = closingOf('goingAway', 'gateway_stopping', 'gateway')

/** The sessions of one run of a gateway, in the database. */
export class StoreSessionRegistry implements SessionRegistry {
  readonly #deps: RegistryDeps
  readonly #closer: SessionCloser
  readonly #run: GatewayRun
  readonly #name: GatewayName
  readonly #registrations: Registrations
  readonly #refusals: RefusalLimit

  constructor(deps: RegistryDeps, closer: SessionCloser, gateway: RegistryGateway) {
    this.#deps = deps
    this.#closer = closer
    this.#run = { runId: newId(), ...gateway }
    this.#name = new GatewayName(deps, gateway)
    this.#registrations = new Registrations(deps, closer, this.#run)
    this.#refusals = new RefusalLimit(deps.clock)
  }

  async join(): Promise<void> {
    const { store, clock, pool } = this.#deps
    await this.#name.take()
    const earlier = await store.write(async (tx) => {
      await pool.open(tx)
      await markSeen(tx, this.#run, clock.now())
      return listOtherRuns(tx, this.#run)
    })
    for (const runId of earlier) {
      await this.#closer.closeOfRun(runId, RESTARTED)
      await store.write((tx) => markLeft(tx, runId, clock.now()))
    }
  }

  register(request: SessionRequest): Promise<RegisteredSession> {
    return this.#registrations.register(request)
  }

  renew(sessionId: string, userId: string, token: SessionToken): Promise<void> {
    return this.#registrations.renew(sessionId, userId, token)
  }

  async close(ends: readonly SessionEnd[]): Promise<void> {
    await this.#inBatches(ends, async (tx, batch) => {
      for (const end of batch) await this.#close(tx, end)
    })
  }

  async beat(news: readonly SessionNews[]): Promise<void> {
    const { store, clock } = this.#deps
    await store.write((tx) => markSeen(tx, this.#run, clock.now()))
    await this.#inBatches(news, (tx, batch) => recordNews(tx, this.#run.runId, batch))
    await this.#name.renew()
    await this.#writeDueRefusals()
  }

  listEnds(): Promise<SessionEnd[]> {
    return listPendingEnds(this.#deps.store.read, this.#run.runId, MAX_ENDS)
  }

  async acknowledge(sessionIds: readonly string[]): Promise<void> {
    await this.#inBatches(sessionIds, async (tx, batch) => {
      for (const id of batch) await acknowledgeEnd(tx, this.#run.runId, id)
    })
  }

  recordRefusal(refusal: Refusal): Promise<void> {
    return this.#writeRefusals(this.#refusals.add(refusal))
  }

  async leave(): Promise<void> {
    const { store, clock } = this.#deps
    await this.#writeRefusals(this.#refusals.takeAll())
    await this.#closer.closeOfRun(this.#run.runId, STOPPING)
    await store.write((tx) => markLeft(tx, this.#run.runId, clock.now()))
    await this.#name.release()
  }

  async #close(tx: Tx, { id, code, reason }: SessionEnd): Promise<void> {
    const session = await findSession(tx, id)
    if (session?.runId !== this.#run.runId) return
    await this.#closer.close(tx, session, { code, reason, decidedBy: 'gateway' })
  }

  /** A failure must not make the beat fail: the summaries are written by a later one. */
  async #writeDueRefusals(): Promise<void> {
    try {
      await this.#writeRefusals(this.#refusals.takeDue())
    } catch (error) {
      this.#deps.logger.warn({ error }, 'refused connections could not be written to the audit trail')
    }
  }

  async #writeRefusals(summaries: readonly RefusalSummary[]): Promise<void> {
    const { store, clock, events } = this.#deps
    if (summaries.length === 0) return
    await store.write(async (tx) => {
      for (const summary of summaries)
        await appendAudit(tx, events, refusalEntry(summary, this.#run.name, clock.now()))
    })
  }

  async #inBatches<T>(
    items: readonly T[],
    work: (tx: Tx, batch: readonly T[]) => Promise<void>,
  ): Promise<void> {
    for (let start = 0; start < items.length; start += BATCH)
      await this.#deps.store.write((tx) => work(tx, items.slice(start, start + BATCH)))
  }
}

function refusalEntry(summary: RefusalSummary, gateway: string, at: number) {
  const { remoteAddress, user, device, reason, repetitions, tokenFault } = summary
  const isOfMany = remoteAddress === null
  const code = isOfMany ? 'many_refusals' : tokenFault && (`token_${tokenFault}` as const)
  const sentence = repetitions && !isOfMany ? `${reason} (${repetitions} more within a minute)` : reason
  return {
    at,
    event: 'auth_failed',
    sessionId: null,
    userId: user?.id ?? null,
    userName: user?.name ?? null,
    device: device ?? null,
    virtualIp: null,
    gateway,
    remoteAddress,
    reason: cleanPhrase(sentence),
    cause: auditCauseOf(reason, repetitions ? { repetitions } : {}, code),
  } as const
}

/**
 * The name of a gateway. At most one running gateway on a database has it, because a gateway that starts closes the
 * sessions of earlier runs of its name.
 */
class GatewayName {
  readonly #deps: RegistryDeps
  readonly #name: string
  readonly #untilDeadMs: number
  readonly #lease: Lease
  #isLost = false

  constructor(deps: RegistryDeps, { name, heartbeatMs }: RegistryGateway) {
    this.#deps = deps
    this.#name = name
    this.#untilDeadMs = INTERVALS_UNTIL_DEAD * heartbeatMs
    this.#lease = createLease({ ...deps, name: `gateway:${name}`, ttlMs: this.#untilDeadMs })
  }

  /** Rejects with `gateway_name_in_use` while another gateway with the name is running. */
  async take(): Promise<void> {
    if (!(await this.#lease.hold())) throw await this.#inUse()
  }

  /** Keeps the name. A gateway that was frozen may find that another one has it. */
  async renew(): Promise<void> {
    const wasLost = this.#isLost
    this.#isLost = !(await this.#lease.hold())
    if (this.#isLost && !wasLost)
      this.#deps.logger.error(
        { gateway: this.#name },
        'another gateway has taken gateway.name; rename one of them',
      )
  }

  async release(): Promise<void> {
    await this.#lease.release()
  }

  async #inUse(): Promise<AppError> {
    const running = await findRunning(this.#deps.store.read, this.#name)
    const other = running
      ? `the gateway at ${running.address} since ${toRfc3339(running.startedAt)}`
      : 'another gateway'
    const message =
      `gateway.name: ${JSON.stringify(this.#name)} is in use by ${other}; stop that gateway (on its host ss -ltnp shows ` +
      'its process), or set another gateway.name. On this host the name of a gateway that has crashed is free at once; ' +
      `on another host, or in another container, it is free after ${this.#untilDeadMs / SECOND} s.`
    return new AppError('unavailable', 'gateway_name_in_use', message)
  }
}
