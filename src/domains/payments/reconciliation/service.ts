import { AppError, errorMessage, invalidField, requireFound } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import { OLDEST_FIRST, type PageRequest } from '../../../kernel/page.ts'
import { isDueAt, MINUTE, HOUR } from '../../../kernel/time.ts'
import type { BillRow, PaymentChannel } from '../../../ports/payments.ts'
import { newHolder } from '../../../store/work/holder.ts'
import { queuedWork } from '../../../store/work/work-queue.ts'
import type { Tx } from '../../../store/store.ts'
import { paymentAlarm } from '../alerts.ts'
import type { PaymentDeps } from '../deps.ts'
import { PAYMENT_EVENTS, referenceOf } from '../model.ts'
import { findPayment, findRefund } from '../store.ts'
import {
  compareRows,
  dayRange,
  localDay,
  mayBeOfOtherDay,
  missingThere,
  NO_BILL,
  type DayRange,
  type Difference,
  type DifferenceKind,
  type LocalRow,
  type LocalTimes,
  type RowType,
} from './model.ts'
import { NumberSet } from './number-set.ts'
import {
  clearDayAlerts,
  deleteDifferences,
  findAlerted,
  findMatches,
  findNewestOfDay,
  findLocalRows,
  findReconciliation,
  finishReconciliation,
  insertDifferences,
  insertReconciliation,
  listDifferences,
  listReconciliations,
  localPositionsOf,
  readLocalRows,
  releaseReconciliation,
  type ReconciliationRow,
} from './store.ts'

interface ReconciliationDeps extends PaymentDeps {
  /** Rejects with `channel_not_found`. */
  readonly channel: (name: string) => PaymentChannel
  /** Runs requested ones; called after the commit. */
  readonly wake: () => void
}

export type ReconciliationResult =
  | { readonly status: 'matched' | 'differs'; readonly matched: number; readonly differences: number }
  | { readonly status: 'failed'; readonly error: string }

interface Comparison {
  readonly row: ReconciliationRow
  /** The local rows that the bill has. */
  readonly inBill: Readonly<Record<RowType, NumberSet>>
  matched: number
  differences: number
  /** Rows that the provider was asked for. */
  asked: number
}

/**
 * The most rows that are compared at a time: a bound for a turn of the event loop, and for what the garbage collector keeps of
 * each batch.
 */
const LARGEST_BATCH = 200
const WORKER = 'worker'
const ROW_TYPES = ['payment', 'refund'] as const satisfies readonly RowType[]
// docs/specification.md, Payments: the books of WeChat Pay and Alipay have the days of Beijing
const BEIJING = 'Asia/Shanghai'
// Calls of one comparison; a bill that lacks everything is not asked for row by row.
const MAX_ASKED = 200
const RETRY_AFTER_MS = 30 * MINUTE
const GIVE_UP_AT = '18:00'
/** Days that a worker which was away makes up for. */
const DAYS_BACK = 3
/** How long a worker waits for a command of another host that does not respond. */
export const COMMAND_LEASE_MS = HOUR
const LONGEST_ERROR = 500

/** Comparisons of a day's payments with the books of their provider. */
export class Reconciliations {
  readonly #deps: ReconciliationDeps

  constructor(deps: ReconciliationDeps) {
    this.#deps = deps
  }

  /** Requests a reconciliation, which a worker makes. Rejects with `channel_not_found`, `validation_failed` and `reconciliation_running`. */
  async request(tx: Tx, channel: string, date: string, actor: string): Promise<ReconciliationRow> {
    const row = await this.#insert(tx, channel, date, actor, {})
    tx.afterCommit(() => this.#deps.wake())
    return row
  }

  /** Makes a reconciliation now, with the file of a bill or that of the provider. Rejects as {@link request}. */
  async runNow(
    channel: string,
    date: string,
    file: string | undefined,
    actor: string,
    record?: (tx: Tx, row: ReconciliationRow) => Promise<void>,
  ): Promise<ReconciliationRow> {
    const { clock, store } = this.#deps
    // If this process dies, a worker makes it: at once on this host, after that time on another one.
    const lease = { leaseHolder: newHolder(), dueAt: clock.now() + COMMAND_LEASE_MS }
    const row = await store.write(async (tx) => {
      const created = await this.#insert(tx, channel, date, actor, lease)
      await record?.(tx, created)
      return created
    })
    const result = await this.run(row, undefined, file)
    await store.write(async (tx) => {
      await releaseReconciliation(tx, row.id)
      await this.finish(tx, row, result)
    })
    return this.get(row.id)
  }

  async #insert(
    tx: Tx,
    name: string,
    date: string,
    actor: string,
    lease: { leaseHolder?: string; dueAt?: number },
  ): Promise<ReconciliationRow> {
    const channel = this.#deps.channel(name)
    const now = this.#deps.clock.now()
    const range = dayRange(date, this.#timeZoneOf(channel))
    if (!range || range.to > now)
      throw invalidField('date', 'invalid', { reason: 'must be a day that is over, as YYYY-MM-DD' })
    const row: ReconciliationRow = {
      ...queuedWork(now),
      ...lease,
      seq: 0,
      id: newId(),
      channel: name,
      date,
      status: 'running',
      matched: 0,
      differences: 0,
      error: null,
      createdAt: now,
      finishedAt: null,
      requestedBy: actor,
      isAlerted: false,
    }
    if (await insertReconciliation(tx, row)) return row
    const message = `A reconciliation of the channel ${name} is running; wait for its end.`
    throw new AppError('conflict', 'reconciliation_running', message)
  }

  #timeZoneOf({ kind }: PaymentChannel): string {
    return kind === 'stripe' ? this.#deps.timeZone : BEIJING
  }

  /** Rejects with `reconciliation_not_found`. */
  async get(id: string): Promise<ReconciliationRow> {
    return requireFound(await findReconciliation(this.#deps.store.read, id), 'reconciliation', id)
  }

  /** Newest first. */
  list(page: PageRequest) {
    return listReconciliations(this.#deps.store.read, {}, page)
  }

  /** The differences in the order in which they were found. Rejects with `reconciliation_not_found`. */
  async differences(
    filter: { readonly reconciliationId: string; readonly kind?: DifferenceKind | undefined },
    page: PageRequest,
  ) {
    await this.get(filter.reconciliationId)
    return listDifferences(this.#deps.store.read, filter, { ...page, order: OLDEST_FIRST })
  }

  /** Compares the day, outside of any transaction. May run twice for one reconciliation: the second run begins anew. */
  async run(
    row: ReconciliationRow,
    signal: AbortSignal | undefined,
    file?: string,
  ): Promise<ReconciliationResult> {
    const { channels, logger, store } = this.#deps
    const channel = channels.get(row.channel)
    if (!channel) return { status: 'failed', error: `The configuration has no channel ${row.channel}.` }
    const inBill = { payment: new NumberSet(), refund: new NumberSet() }
    const comparison: Comparison = { row, inBill, matched: 0, differences: 0, asked: 0 }
    try {
      await store.write((tx) => deleteDifferences(tx, row.id))
      const bill = file === undefined ? await channel.bill(row.date) : channel.billOf(file)
      if (bill) await this.#compareBill(comparison, bill, signal)
      const { isEmpty } = await this.#findMissing(comparison, channel, bill !== undefined, signal)
      if (!bill && !isEmpty) return { status: 'failed', error: NO_BILL }
    } catch (error) {
      signal?.throwIfAborted()
      logger.warn({ reconciliation_id: row.id, channel: row.channel, error }, 'a reconciliation has failed')
      return { status: 'failed', error: errorMessage(error).slice(0, LONGEST_ERROR) }
    }
    const { matched, differences } = comparison
    return { status: differences === 0 ? 'matched' : 'differs', matched, differences }
  }

  async #compareBill(
    comparison: Comparison,
    bill: AsyncIterable<BillRow>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    let batch: BillRow[] = []
    for await (const row of bill) {
      batch.push(row)
      if (batch.length < LARGEST_BATCH) continue
      signal?.throwIfAborted()
      await this.#compareBatch(comparison, batch)
      batch = []
    }
    await this.#compareBatch(comparison, batch)
  }

  async #compareBatch(comparison: Comparison, batch: readonly BillRow[]): Promise<void> {
    if (batch.length === 0) return
    const { row, inBill } = comparison
    const found: Difference[] = []
    for (const type of ROW_TYPES) {
      const ofType = batch.filter((there) => there.type === type)
      const rows = await this.#findUnmatched(comparison, type, ofType)
      if (rows.length === 0) continue
      const numbers = rows.map(({ number }) => number)
      const local = await findLocalRows(this.#deps.store.read, type, row.channel, numbers)
      for (const there of rows) {
        const here = local.get(there.number)
        // A second row of a number is unknown money.
        const isLocal = here !== undefined && inBill[type].add(here.seq)
        const difference = compareRows(there, isLocal ? here : undefined)
        if (difference) found.push(difference)
      }
    }
    comparison.matched += batch.length - found.length
    await this.#keep(comparison, found)
  }

  /** The rows of a batch that need a closer look: all but a few match. */
  async #findUnmatched(
    { row, inBill }: Comparison,
    type: RowType,
    rows: readonly BillRow[],
  ): Promise<BillRow[]> {
    if (rows.length === 0) return []
    const numbers = rows.map(({ number }) => number)
    const matched = new Set<BillRow>()
    for (const { seq, place, cents } of await findMatches(
      this.#deps.store.read,
      type,
      row.channel,
      numbers,
    )) {
      const there = rows[place]
      const isMatch = there?.amountCents === cents && there.status !== 'failed'
      if (there && isMatch && inBill[type].add(seq)) matched.add(there)
    }
    return matched.size === rows.length ? [] : rows.filter((there) => !matched.has(there))
  }

  async #findMissing(
    comparison: Comparison,
    channel: PaymentChannel,
    hasBill: boolean,
    signal: AbortSignal | undefined,
  ) {
    const { row, inBill } = comparison
    const { read } = this.#deps.store
    const range = dayRange(row.date, this.#timeZoneOf(channel))
    if (!range) throw new Error(`The date ${row.date} does not exist.`)
    let isEmpty = true
    for await (const { type, positions } of localPositionsOf(read, { channel: row.channel, ...range })) {
      isEmpty = false
      if (!hasBill) break
      const absent = positions.map(({ seq }) => seq).filter((seq) => !inBill[type].has(seq))
      for (let at = 0; at < absent.length; at += LARGEST_BATCH) {
        signal?.throwIfAborted()
        const rows = await readLocalRows(read, type, absent.slice(at, at + LARGEST_BATCH))
        await this.#keepMissing(comparison, channel, rows, range)
      }
    }
    return { isEmpty }
  }

  async #keepMissing(
    comparison: Comparison,
    channel: PaymentChannel,
    rows: readonly (LocalRow & LocalTimes)[],
    range: DayRange,
  ): Promise<void> {
    const missing: LocalRow[] = []
    for (const row of rows)
      if (!(await this.#isOfOtherDay(comparison, channel, row, range))) missing.push(row)
    await this.#keep(comparison, missing.map(missingThere))
  }

  /**
   * Whether a row that the books of a day lack is in those of a day beside it: it happened near midnight, or a refund began on
   * an earlier day, and the provider has it. Rejects if the provider does not answer: the day is compared again later.
   */
  async #isOfOtherDay(
    comparison: Comparison,
    channel: PaymentChannel,
    row: LocalRow & LocalTimes,
    range: DayRange,
  ): Promise<boolean> {
    if (!mayBeOfOtherDay(row, range) || comparison.asked >= MAX_ASKED) return false
    comparison.asked++
    const { read } = this.#deps.store
    const payment = await findPayment(read, row.paymentId)
    if (!payment) return false
    const reference = referenceOf(payment)
    if (row.type === 'payment') {
      const { status, amountCents } = await channel.query(reference)
      return status === 'paid' && amountCents === row.cents
    }
    const refund = await findRefund(read, row.number)
    const providerId = refund?.providerId ?? undefined
    const known = { number: row.number, providerId, payment: reference, amountCents: row.cents }
    return (await channel.queryRefund(known)).status === 'succeeded'
  }

  async #keep(comparison: Comparison, found: readonly Difference[]): Promise<void> {
    if (found.length === 0) return
    comparison.differences += found.length
    await this.#deps.store.write((tx) => insertDifferences(tx, comparison.row.id, found))
  }

  /** Records the end, with its event and its alert. */
  async finish(tx: Tx, row: ReconciliationRow, result: ReconciliationResult): Promise<void> {
    const { clock, events } = this.#deps
    const now = clock.now()
    const isAlerted = this.#needsAlert(row, result, now)
    const nothing = { matched: 0, differences: 0, error: null }
    const ended = { ...row, ...nothing, ...result, finishedAt: now, isAlerted }
    if (!(await finishReconciliation(tx, ended))) return
    await events.append(tx, { type: PAYMENT_EVENTS.reconciled, subject: row.id, data: ended })
    if (isAlerted) await this.#raise(tx, ended)
    else if (result.status === 'matched') await this.#recover(tx, ended)
  }

  /** A failure is retried until the evening. */
  #needsAlert({ requestedBy, date }: ReconciliationRow, { status }: ReconciliationResult, now: number) {
    if (status !== 'failed') return status === 'differs'
    const { date: yesterday, time } = localDay(now, this.#deps.timeZone, 1)
    return requestedBy === WORKER && (date < yesterday || time >= GIVE_UP_AT)
  }

  async #raise(tx: Tx, { id, channel, date, status, differences, error }: ReconciliationRow): Promise<void> {
    const what =
      status === 'differs'
        ? `has ${differences} differences. Look at them (GET /payments/reconciliations/${id}/differences), correct them`
        : `has failed: ${error}. Remove the cause; an answer 401 or 403 is about the keys of the channel, in its secrets_file`
    await this.#deps.alerts.raise(tx, {
      ...paymentAlarm('payment.reconciliation:*', channel),
      title: `The payments of ${date} on ${channel} are not reconciled`,
      body: `The reconciliation ${id} ${what}, and reconcile the day again.`,
      severity: 'ERROR',
    })
  }

  /** Ends the alert of the channel if the day was the last one with an alert. */
  async #recover(tx: Tx, { channel, date }: ReconciliationRow): Promise<void> {
    if (!(await clearDayAlerts(tx, channel, date)) || (await findAlerted(tx, channel))) return
    await this.#deps.alerts.recoverIfRaised(tx, {
      ...paymentAlarm('payment.reconciliation:*', channel),
      title: `The payments on ${channel} are reconciled`,
      body: `The day ${date} matches.`,
    })
  }

  /** What the worker does from time to time: requests the reconciliations of the last days that are due. */
  async requestDue(): Promise<void> {
    const { channels, clock, reconcileAt, store, timeZone } = this.#deps
    const now = clock.now()
    const isBeforeTime = localDay(now, timeZone).time < reconcileAt
    for (const channel of channels.values())
      for (let daysAgo = DAYS_BACK; daysAgo >= (isBeforeTime ? 2 : 1); daysAgo--) {
        const { date } = localDay(now, this.#timeZoneOf(channel), daysAgo)
        const newest = await findNewestOfDay(store.read, channel.name, date)
        if (!isWanted(newest, now)) continue
        await store.write((tx) => this.request(tx, channel.name, date, WORKER)).catch(ignoreRunning)
      }
  }
}

function isWanted(newest: ReconciliationRow | undefined, now: number): boolean {
  if (!newest) return true
  const { status, isAlerted, finishedAt } = newest
  if (status !== 'failed' || isAlerted || finishedAt === null) return false
  return isDueAt(finishedAt + RETRY_AFTER_MS, now, RETRY_AFTER_MS)
}

/** Another reconciliation of the channel is running; the next scan tries again. */
function ignoreRunning(error: unknown): void {
  if (!(error instanceof AppError) || !['reconciliation_running', 'validation_failed'].includes(error.code))
    throw error
}
