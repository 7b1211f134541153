import { eventObject } from '../../../api/event-stream.ts'
import type { AnswerOf } from '../../../api/operations.ts'
import type { ListFilter } from '../../../parts/list/list-query.ts'
import type { Tone } from '../../../parts/status-badge.tsx'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live, session } from '../platform.ts'
import { commandChoices, commandLabel } from '../command-names.ts'
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

/** Whether the user requested it: nobody decides on an own request. */
export function isOwnRequest({ requested_by }: Execution): boolean {
  return requested_by === session.bearer.value?.id
}

/** Whether the user may approve or reject it. */
export function mayDecide(execution: Execution): boolean {
  const { status, approvers } = execution
  const isApprover = approvers?.some((role) => session.bearer.value?.roles.includes(role)) ?? false
  return status === 'awaiting_approval' && isApprover && !isOwnRequest(execution)
}

const PAUSE_MS = 5_000
const MOST_REQUESTS = 100

interface Requests {
  readonly items: readonly Execution[]
  /** Whether there are more than are read. */
  readonly hasMore: boolean
}

/** The requests that the user may decide on; also for roles that the policy makes approvers. */
export const decidable: ResourceSource<Requests> = {
  live,
  prefix: 'command.',
  isAbout: () => true,
  pauseMs: PAUSE_MS,
  async read(_, signal) {
    const query = { status: 'awaiting_approval', limit: MOST_REQUESTS } as const
    const waiting = await call('listExecutions', { query }, signal)
    if (!waiting.ok) return waiting
    const { items, next_cursor } = waiting.value
    return { ...waiting, value: { items: items.filter(mayDecide), hasMore: next_cursor !== null } }
  },
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
  return title === undefined ? commandLabel(command_id) : (title ?? command_id)
}

/** `unit=shop-web lines=20` */
export function paramsText(params: Execution['params']): string {
  return Object.entries(params)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ')
}

/** The execution that an event is about. */
export const executionIn = eventObject<Execution>('command_id')
