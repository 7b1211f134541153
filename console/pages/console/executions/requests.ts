import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live, session } from '../platform.ts'
import type { Execution } from './model.ts'

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
  /** Whether there are more requests than were read. */
  readonly hasMore: boolean
}

/** The requests that the user may decide on. The policy can make any role an approver. */
export const decidableRequests: ResourceSource<Requests> = {
  live,
  prefix: 'command.',
  pauseMs: PAUSE_MS,
  async read(_, signal) {
    const query = { status: 'awaiting_approval', limit: MOST_REQUESTS } as const
    const waiting = await call('listExecutions', { query }, signal)
    if (!waiting.ok) return waiting
    const { items, next_cursor } = waiting.value
    return { ...waiting, value: { items: items.filter(mayDecide), hasMore: next_cursor !== null } }
  },
}
