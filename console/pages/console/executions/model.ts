import { eventObject } from '../../../api/event-stream.ts'
import type { AnswerOf } from '../../../api/operations.ts'
import type { ListFilter } from '../../../parts/list/list-query.ts'
import type { Tone } from '../../../parts/status-badge.tsx'
import { commandChoices, commandLabel } from '../command-names.ts'
import { localCommand } from '../commands/built-in.ts'
import { listedUsers } from '../user-names.ts'

export type Execution = AnswerOf<'getExecution'>
export type ExecutionStatus = Execution['status']

export const EXECUTION_TONES: Readonly<Record<ExecutionStatus, Tone>> = {
  awaiting_approval: 'warning',
  queued: 'active',
  running: 'active',
  succeeded: 'good',
  failed: 'danger',
  timed_out: 'danger',
  cancelled: 'quiet',
  incomplete: 'danger',
  rejected: 'quiet',
  expired: 'quiet',
  interrupted: 'quiet',
}

const OPEN: readonly ExecutionStatus[] = ['awaiting_approval', 'queued', 'running']

/** Whether the execution can still change. */
export function isOpen(status: ExecutionStatus): boolean {
  return OPEN.includes(status)
}

export const EXECUTION_FILTERS: readonly ListFilter[] = [
  { name: 'status', kind: 'choice', values: Object.keys(EXECUTION_TONES) },
  { name: 'command_id', kind: 'reference', choices: commandChoices },
  { name: 'requested_by', kind: 'reference', choices: listedUsers },
  { name: 'created', kind: 'period' },
]

/** The title of the command; its id if it does not exist. */
export function commandTitle({ title, command_id }: Pick<Execution, 'title' | 'command_id'>): string {
  // Events have no title.
  return title === undefined
    ? commandLabel(command_id)
    : localCommand({ id: command_id, title: title ?? command_id }).title
}

/** `unit=shop-web lines=20` */
export function paramsText(params: Execution['params']): string {
  return Object.entries(params)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ')
}

/** The execution that an event is about. */
export const executionIn = eventObject('Execution')
