import type { AnswerOf, OperationName } from '../../../api/operations.ts'
import type { Tone } from '../../../parts/status-badge.tsx'
import { localTime } from '../../../i18n/local.ts'
import { session } from '../platform.ts'
import { listOf } from '../sources.ts'
import { pathOf } from '../view.ts'
import { OPERATION_NAMES, operationLabel } from './operation-words.ts'
import type { PageName } from '../page-words.ts'

export type AuditRow = AnswerOf<'listAudit'>['items'][number]

export const AUDIT_OUTCOME_TONES: Readonly<Record<AuditRow['outcome'], Tone>> = {
  done: 'good',
  refused: 'warning',
  failed: 'danger',
}

// The audit trail has no events.
const PREFIX = 'audit.'
const EVERY_MS = 30_000

/** The audit trail, as the filters of the address say. */
export const auditRows = listOf('listAudit', PREFIX, {
  filters: [
    { name: 'actor', kind: 'text' },
    { name: 'operation', kind: 'text', suggestions: () => OPERATION_NAMES, wordsOf: operationLabel },
    { name: 'target', kind: 'text' },
    { name: 'at', kind: 'period', parameters: ['from', 'to'] },
  ],
  everyMs: EVERY_MS,
  keyOf: ({ id }) => id,
  fromEvent: () => null,
})

const API_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** `user:0198…`, as the filter has it. */
export function targetText({ target: { kind, id } }: AuditRow): string {
  return id === null ? kind : `${kind}:${id}`
}

/** The pages that show what a row is about by its kind, and what a user needs for them. */
const TARGET_PAGES: Readonly<Record<string, readonly [page: PageName, operation: OperationName]>> = {
  alert: ['alerts', 'listAlerts'],
  certificate: ['certificates', 'listCertificates'],
  'data-backup': ['data-backups', 'listDataBackups'],
  execution: ['executions', 'listExecutions'],
  heartbeat: ['heartbeats', 'listHeartbeats'],
  menu: ['menus', 'getMenus'],
  message: ['messages', 'listMessages'],
  payment: ['payments', 'listPayments'],
  reconciliation: ['reconciliations', 'listReconciliations'],
  silence: ['silences', 'listSilences'],
  ticket: ['tickets', 'listTickets'],
  user: ['users', 'listUsers'],
  'vpn-session': ['vpn-sessions', 'listVpnSessions'],
  webhook: ['webhooks', 'listWebhooks'],
}

/** The page of what a row is about, for a user who may open it. */
export function targetAddress({ target: { kind, id } }: AuditRow): string | undefined {
  const [name, operation] = TARGET_PAGES[kind] ?? []
  if (name === undefined || operation === undefined || id === null || !session.may(operation))
    return undefined
  return pathOf(name, id)
}

/** Each field that differs: its name, its value before and after. */
export function changeLines({ changes }: AuditRow): (readonly [name: string, from: string, to: string])[] {
  return Object.entries(changes).map(([name, [from, to]]) => [name, valueText(from), valueText(to)])
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '–'
  if (typeof value !== 'string') return JSON.stringify(value)
  return API_TIME.test(value) ? localTime(value) : value
}
