import { MINUTE } from '../../../kernel/time.ts'
import type { BillRow } from '../../../ports/payments.ts'

export const RECONCILIATION_STATUSES = ['running', 'matched', 'differs', 'failed'] as const
export type ReconciliationStatus = (typeof RECONCILIATION_STATUSES)[number]

export const DIFFERENCE_KINDS = ['missing_here', 'missing_there', 'amount_differs', 'status_differs'] as const
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number]

/** The subject of a row of the books. */
export type RowType = BillRow['type']

/** The comparison of one day of a channel with the books of its provider. */
export interface Reconciliation {
  readonly id: string
  readonly channel: string
  /** `YYYY-MM-DD` in the time zone of the books. */
  readonly date: string
  readonly status: ReconciliationStatus
  readonly matched: number
  readonly differences: number
  /** Null unless it has failed. */
  readonly error: string | null
  readonly createdAt: number
  readonly finishedAt: number | null
  readonly requestedBy: string
}

/** A row in which the two sides differ; a side that lacks the row is null. */
export interface Difference {
  readonly kind: DifferenceKind
  readonly type: RowType
  readonly number: string
  readonly paymentId: string | null
  readonly hereStatus: string | null
  readonly hereCents: number | null
  readonly thereStatus: string | null
  readonly thereCents: number | null
  readonly providerId: string | null
}

/** A payment or refund of this database, as it is compared. */
export interface LocalRow {
  readonly type: RowType
  /** The number of the row in its table. */
  readonly seq: number
  readonly number: string
  readonly paymentId: string
  readonly status: string
  readonly cents: number
}

/** The times between which a local row may be in the books. */
export interface LocalTimes {
  readonly beganAt: number
  readonly at: number
}

// The provider's clock, and the time that it takes to book.
const NEAR_MIDNIGHT_MS = 10 * MINUTE

/** The first millisecond of a day, and that of the next one. */
export interface DayRange {
  readonly from: number
  readonly to: number
}

/** Whether a local row of a day may be in the books of the day before or after. */
export function mayBeOfOtherDay({ beganAt, at }: LocalTimes, { from, to }: DayRange): boolean {
  return beganAt < from + NEAR_MIDNIGHT_MS || at >= to - NEAR_MIDNIGHT_MS
}

/** The error of a day of which the provider has no bill although there are local rows. */
export const NO_BILL = 'no_bill'

const AS_THERE: Readonly<Record<string, BillRow['status']>> = {
  paid: 'succeeded',
  succeeded: 'succeeded',
  creating: 'pending',
  open: 'pending',
  pending: 'pending',
}

/** The difference between a row of the bill and the local one; undefined if they match. */
export function compareRows(
  there: BillRow,
  here: Omit<LocalRow, 'type'> | undefined,
): Difference | undefined {
  const kind = here ? kindOf(there, here) : 'missing_here'
  if (kind === undefined) return undefined
  return {
    kind,
    type: there.type,
    number: there.number,
    paymentId: here?.paymentId ?? null,
    hereStatus: here?.status ?? null,
    hereCents: here?.cents ?? null,
    thereStatus: there.status,
    thereCents: there.amountCents,
    providerId: there.providerId ?? null,
  }
}

function kindOf(there: BillRow, here: Pick<LocalRow, 'status' | 'cents'>): DifferenceKind | undefined {
  if (there.amountCents !== here.cents) return 'amount_differs'
  const status = AS_THERE[here.status] ?? 'failed'
  // A payment or refund that was pending when the bill was made may have succeeded since.
  const isLater = there.status === 'pending' && status === 'succeeded'
  return status === there.status || isLater ? undefined : 'status_differs'
}

export function missingThere({ type, number, paymentId, status, cents }: LocalRow): Difference {
  const there = { thereStatus: null, thereCents: null, providerId: null }
  return { kind: 'missing_there', type, number, paymentId, hereStatus: status, hereCents: cents, ...there }
}

const DATE = /^\d{4}-\d{2}-\d{2}$/

/** Undefined for a text that is no date. */
export function dayRange(date: string, timeZone: string): DayRange | undefined {
  if (!DATE.test(date)) return undefined
  try {
    const day = Temporal.PlainDate.from(date, { overflow: 'reject' })
    const start = (date: Temporal.PlainDate) => date.toZonedDateTime({ timeZone }).epochMilliseconds
    return { from: start(day), to: start(day.add({ days: 1 })) }
  } catch {
    return undefined
  }
}

/** The day some days before `now`, and the time of the day, `HH:MM`. */
export function localDay(now: number, timeZone: string, daysAgo = 0): { date: string; time: string } {
  const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone)
  return {
    date: local.toPlainDate().subtract({ days: daysAgo }).toString(),
    time: local.toPlainTime().toString({ smallestUnit: 'minute' }),
  }
}
