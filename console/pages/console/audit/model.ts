import type { AnswerOf } from '../../../api/operations.ts'
import type { Tone } from '../../../parts/status-badge.tsx'
import { listOf } from '../sources.ts'

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
    { name: 'operation', kind: 'text' },
    { name: 'target', kind: 'text' },
    { name: 'at', kind: 'period', parameters: ['from', 'to'] },
  ],
  everyMs: EVERY_MS,
  keyOf: ({ id }) => id,
  fromEvent: () => null,
})

/** `user:0198…`, as the filter has it. */
export function targetText({ target: { kind, id } }: AuditRow): string {
  return id === null ? kind : `${kind}:${id}`
}

/** Each field that differs: its name, its value before and after. */
export function changeLines({ changes }: AuditRow): (readonly [name: string, from: string, to: string])[] {
  return Object.entries(changes).map(([name, [from, to]]) => [name, valueText(from), valueText(to)])
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '–'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
