import { defineColumns, flag, generated, integer, text, schemaOf } from '../../store/columns.ts'
import { WORK_COLUMNS } from '../../store/work/work-queue.ts'
import type { Attention, PaymentStatus, RefundStatus } from './model.ts'
import type { DifferenceKind, ReconciliationStatus, RowType } from './reconciliation/model.ts'

/** `dueAt` is when the runner does the next thing for the payment. */
export const payments = defineColumns({
  seq: generated(),
  id: text(),
  orderId: text().nullable(),
  channel: text(),
  status: text<PaymentStatus>(),
  amountCents: integer(),
  currency: text(),
  number: text(),
  providerId: text().nullable(),
  /** The paid amount, as the provider reports it. */
  paidCents: integer().nullable(),
  refundedCents: integer(),
  /** The sum of the refunds that have not failed. */
  reservedCents: integer(),
  attention: text<Attention>().nullable(),
  /** Whether a refund has failed, or has no outcome, and nobody and no later refund has made up for it. */
  hasFailedRefund: flag(),
  createdAt: integer(),
  createdBy: text(),
  paidAt: integer().nullable(),
  closedAt: integer().nullable(),
  failedReason: text().nullable(),
  /** The parameters of the call that creates it: each repetition sends the same bytes. */
  parameters: text(),
  actionType: text<'redirect' | 'qr_code'>().nullable(),
  actionUrl: text().nullable(),
  actionExpiresAt: integer().nullable(),
  orderEndsAt: integer().nullable(),
  /** Whether it is to be closed at the provider. */
  isClosing: flag(),
  version: integer(),
  ...WORK_COLUMNS,
})

export const paymentHistory = defineColumns({
  seq: generated(),
  paymentId: text(),
  at: integer(),
  /** What has happened: a status, or for example `refunded`. */
  change: text(),
  actor: text(),
  note: text().nullable(),
})

export const paymentRefunds = defineColumns({
  seq: generated(),
  id: text(),
  paymentId: text(),
  channel: text(),
  number: text(),
  status: text<RefundStatus>(),
  amountCents: integer(),
  reason: text(),
  providerId: text().nullable(),
  failedReason: text().nullable(),
  createdAt: integer(),
  createdBy: text(),
  finishedAt: integer().nullable(),
  /** Whether the provider knows it. */
  isSent: flag(),
  ...WORK_COLUMNS,
})

/** The events of providers that were recorded. */
export const paymentCallbacks = defineColumns({ channel: text(), eventId: text(), receivedAt: integer() })

export const paymentReconciliations = defineColumns({
  seq: generated(),
  id: text(),
  channel: text(),
  /** `YYYY-MM-DD` in the time zone of the provider's books. */
  date: text(),
  status: text<ReconciliationStatus>(),
  matched: integer(),
  differences: integer(),
  error: text().nullable(),
  createdAt: integer(),
  finishedAt: integer().nullable(),
  requestedBy: text(),
  /** Whether its alert waits for a run of the same day that matches. */
  isAlerted: flag(),
  ...WORK_COLUMNS,
})

export const paymentDifferences = defineColumns({
  seq: generated(),
  reconciliationId: text(),
  kind: text<DifferenceKind>(),
  type: text<RowType>(),
  number: text(),
  paymentId: text().nullable(),
  hereStatus: text().nullable(),
  hereCents: integer().nullable(),
  thereStatus: text().nullable(),
  thereCents: integer().nullable(),
  providerId: text().nullable(),
})

export const { changeRow, changeRows, db, lockable, names, pages, readRow, readRows } = schemaOf({
  payments,
  payment_history: paymentHistory,
  payment_refunds: paymentRefunds,
  payment_callbacks: paymentCallbacks,
  payment_reconciliations: paymentReconciliations,
  payment_differences: paymentDifferences,
})
