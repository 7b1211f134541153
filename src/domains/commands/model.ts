import type { Containment, ParameterValue } from '../../kernel/command.ts'
import type { AlertTable } from '../../kernel/alerts.ts'
import type { Role } from '../../kernel/identity.ts'
import { DAY } from '../../kernel/time.ts'

/** docs/specification.md, Commands */
export const EXECUTION_STATUSES = [
  'awaiting_approval',
  'queued',
  'running',
  'succeeded',
  'failed',
  'timed_out',
  'cancelled',
  'incomplete',
  'rejected',
  'expired',
  'interrupted',
] as const
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number]

/**
 * The moves by callers, approvers and workers; an error message names them in this order. The platform itself also ends
 * what waits, see {@link StatusReason}, and what a backup contains, as interrupted.
 */
export const EXECUTION_MOVES: Readonly<Record<ExecutionStatus, readonly ExecutionStatus[]>> = {
  awaiting_approval: ['queued', 'rejected', 'expired'],
  queued: ['running', 'cancelled'],
  running: ['succeeded', 'failed', 'timed_out', 'cancelled', 'incomplete'],
  succeeded: [],
  failed: [],
  timed_out: [],
  cancelled: [],
  incomplete: [],
  rejected: [],
  expired: [],
  interrupted: [],
}

/**
 * Why the platform has ended an execution before its start: its requester is no longer allowed to run the command, or no
 * worker has begun it in time.
 */
export const STATUS_REASONS = ['no_longer_allowed', 'not_started'] as const
export type StatusReason = (typeof STATUS_REASONS)[number]

/** How an execution ends for each of these reasons. */
export const STATUS_OF_REASON: Readonly<Record<StatusReason, ExecutionStatus>> = {
  no_longer_allowed: 'cancelled',
  not_started: 'expired',
}

/** How a run ends. */
export type RunStatus = 'succeeded' | 'failed' | 'timed_out' | 'cancelled' | 'incomplete'

export function isFinal(status: ExecutionStatus): boolean {
  return EXECUTION_MOVES[status].length === 0
}

export const DECISIONS = ['approved', 'rejected'] as const
export type ApprovalDecision = (typeof DECISIONS)[number]

/** The decision of a second person on a request. */
export interface ApprovalRecord {
  readonly at: number
  readonly by: string
  readonly decision: ApprovalDecision
  readonly comment: string | null
  /**
   * The roles of a caller that was not a user; null for a user; left out in a decision of an older program. Not on the
   * wire.
   */
  readonly roles?: readonly Role[] | null
}

/** A request for a command, and what became of it. */
export interface Execution {
  readonly id: string
  readonly commandId: string
  /** Without secrets. */
  readonly params: Readonly<Record<string, ParameterValue>>
  readonly reason: string | null
  readonly requestedBy: string
  /** The roles of the requester; null for a user, whose current roles count. */
  readonly requesterRoles: readonly Role[] | null
  readonly status: ExecutionStatus
  /** Null unless the platform has ended it before its start. */
  readonly statusReason: StatusReason | null
  /** Oldest first. */
  readonly approvals: readonly ApprovalRecord[]
  readonly exitCode: number | null
  readonly signal: string | null
  /** The host of the worker; null before the start. */
  readonly host: string | null
  /** Null before the start, and for a built-in command. */
  readonly containment: Containment | null
  /** Who has cancelled it while it ran. */
  readonly cancelledBy: string | null
  /** All times are epoch milliseconds, UTC. */
  readonly createdAt: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
  /** When it expires without an approval, or once it is queued without a start; null if it was queued by an older release. */
  readonly expiresAt: number | null
  /** 1 at the request, larger after each change. */
  readonly version: number
}

/** The fields of a waiting execution that decide whether it may start. */
export type WaitingExecution = Pick<
  Execution,
  'id' | 'commandId' | 'requestedBy' | 'requesterRoles' | 'approvals'
> & {
  readonly status: 'awaiting_approval' | 'queued'
  /** When it was queued, in epoch milliseconds. */
  readonly queuedAt: number
}

/** An execution with its output. */
export interface ExecutionView extends Execution {
  /** The last 64 KiB of both streams, without secrets; less in a list. */
  readonly output: string
  /** The characters (UTF-16 code units) of the whole output, of which `output` is the end. */
  readonly outputTotal: number
}

/** An execution as a caller reads it. */
export interface DescribedExecution extends ExecutionView {
  /** The title of the command; null if the command does not exist. */
  readonly title: string | null
  /**
   * While it waits for an approval: the program with its arguments, or the id of a built-in command. Null afterwards, and if
   * the command is gone or has other parameters by now.
   */
  readonly wouldRun: readonly string[] | null
  /** While it waits for an approval: the roles that decide. Null afterwards. */
  readonly approvers: readonly Role[] | null
}

/** What a caller sends to request an execution. */
export interface ExecutionRequest {
  readonly params: Readonly<Record<string, unknown>>
  readonly reason: string | null
}

/** The fields of an execution that has not started. */
export const NOT_STARTED = {
  statusReason: null,
  approvals: [],
  exitCode: null,
  signal: null,
  host: null,
  containment: null,
  cancelledBy: null,
  startedAt: null,
  finishedAt: null,
  version: 1,
  output: '',
  outputTotal: 0,
} as const

const ENDED_BY =
  'The same command with the same parameters succeeds, its execution is removed after 90 days, or a person recovers it.'

/** The alerts of commands, for `docs/reference/alerts.md`. */
export const COMMAND_ALERTS = {
  'command.incomplete:*': {
    severities: ['ERROR'],
    raisedBy:
      'The worker of an execution was stopped or has died during the run; `*` is the id of the execution.',
    endedBy: ENDED_BY,
    whatToDo: 'Check what the command has done, and request it again if necessary.',
    repeatEveryMs: DAY,
  },
  'command.not_started:*': {
    severities: ['ERROR'],
    raisedBy: 'No worker begins an execution within `commands.start_within`; `*` is the id of the execution.',
    endedBy: ENDED_BY,
    whatToDo: 'Check that a worker runs and has the command in its configuration, and request it again.',
    repeatEveryMs: DAY,
  },
} as const satisfies AlertTable

/** docs/specification.md, Events */
export const COMMAND_EVENTS = {
  requested: 'command.requested',
  decided: 'command.decided',
  finished: 'command.finished',
  policyChanged: 'command.policy_changed',
} as const

/** The object of the events of the policy. */
export const POLICY_ID = 'policy'
