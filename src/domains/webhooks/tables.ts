import { Secret } from '../../kernel/secret.ts'
import {
  defineColumns,
  encoded,
  flag,
  generated,
  integer,
  json,
  text,
  schemaOf,
} from '../../store/columns.ts'
import { WORK_COLUMNS } from '../../store/work/work-queue.ts'
import type { DeliveryFault, DeliveryStatus, DisabledReason } from './model.ts'

/** A text that no log line shows. */
const secret = encoded<Secret, string>({
  encode: (value) => value.reveal(),
  decode: (stored) => new Secret(stored),
})

/** `dueAt` is when the next delivery is due; the lease is that of the process which calls the endpoint. */
export const webhooks = defineColumns({
  seq: generated(),
  id: text(),
  url: text(),
  subjects: json<readonly string[]>(),
  description: text(),
  ordered: flag(),
  enabled: flag(),
  disabledReason: text<DisabledReason>().nullable(),
  version: integer(),
  createdAt: integer(),
  createdBy: text(),
  updatedAt: integer(),
  updatedBy: text(),
  failingSince: integer().nullable(),
  lastSuccessAt: integer().nullable(),
  pending: integer(),
  secret,
  formerSecret: secret.nullable(),
  formerSecretUntil: integer().nullable(),
  place: integer(),
  pausedUntil: integer().nullable(),
  recoverSince: integer().nullable(),
  ...WORK_COLUMNS,
})

export const deliveries = defineColumns({
  seq: generated(),
  id: text(),
  webhookId: text(),
  place: integer().nullable(),
  eventId: text(),
  type: text(),
  thing: text(),
  payload: text().nullable(),
  status: text<DeliveryStatus>(),
  attempts: integer(),
  createdAt: integer(),
  dueAt: integer().nullable(),
  firstTriedAt: integer().nullable(),
  triedAt: integer().nullable(),
  finishedAt: integer().nullable(),
  responseStatus: integer().nullable(),
  responseHeaders: json<readonly string[]>().nullable(),
  responseBody: text().nullable(),
  error: text<DeliveryFault>().nullable(),
})

export const { changeRow, changeRows, db, lockable, names, pages, readRow, readRows } = schemaOf({
  webhooks,
  webhook_deliveries: deliveries,
})
