import type { AnswerOf } from '../../../api/operations.ts'
import type { ListFilter } from '../../../parts/list/list-query.ts'
import type { Tone } from '../../../parts/status-badge.tsx'

export type Message = AnswerOf<'getMessage'>

export const MESSAGE_TONES: Readonly<Record<Message['status'], Tone>> = {
  pending: 'active',
  delivered: 'good',
  dead: 'danger',
}

/** Whether its delivery, or its refusal by the bus, is still to come. */
export function isWaiting({ status }: Message): boolean {
  return status === 'pending'
}

export const MESSAGE_FILTERS: readonly ListFilter[] = [
  { name: 'status', kind: 'choice', values: Object.keys(MESSAGE_TONES) },
  { name: 'subject', kind: 'text' },
  { name: 'created_from', kind: 'time' },
  { name: 'created_to', kind: 'time' },
]
