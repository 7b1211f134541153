import { HOUR } from '../../src/kernel/time.ts'
import type { Book, MockPayment, MockRefund } from './book.ts'
import type { Channel } from './channels.ts'

/** A row of a bill, before the provider has written it. */
export interface BillEntry {
  readonly payment: MockPayment
  readonly refund: MockRefund | undefined
  readonly amountCents: number
  /** See {@link beijingTime}. */
  readonly localTime: string
}

/** The time in Beijing: `2026-01-31 10:00:00`. */
export const beijingTime = (at: number) =>
  new Date(at + 8 * HOUR).toISOString().slice(0, 19).replace('T', ' ')

/** The payments and refunds of a day in Beijing. */
export function billEntries(book: Book, channel: Channel, date: string): BillEntry[] {
  return book
    .payments()
    .filter((payment) => payment.channel === channel && payment.paidAt !== undefined)
    .flatMap((payment) => [
      {
        payment,
        refund: undefined,
        amountCents: payment.amountCents,
        localTime: beijingTime(payment.paidAt ?? 0),
      },
      ...payment.refunds.map((refund) => ({
        payment,
        refund,
        amountCents: refund.amountCents,
        localTime: beijingTime(refund.createdAt),
      })),
    ])
    .filter((entry) => entry.localTime.startsWith(`${date} `))
}

/** The first row is missing, the next one has a cent more. */
export function entriesWithDifferences(entries: readonly BillEntry[]): BillEntry[] {
  return entries
    .slice(1)
    .map((entry, index) => (index === 0 ? { ...entry, amountCents: entry.amountCents + 1 } : entry))
}
