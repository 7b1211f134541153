import type { WaitingClock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { RecoverableAlerts } from '../../ports/alerts.ts'
import type { EventSink } from '../../ports/events.ts'
import type { Notices } from '../../ports/notification-channel.ts'
import type { Programs } from '../../ports/programs.ts'
import type { Queries, Store } from '../../store/store.ts'
import type { ExecutionView } from './model.ts'
import type { CommandAccount, PolicyChange } from './policy.ts'

/** The data of an event. */
export type CommandEventData = ExecutionView | PolicyChange

/** What the domain of commands needs of the rest of the platform. */
export interface CommandDeps {
  readonly store: Store
  readonly clock: WaitingClock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly events: EventSink<CommandEventData>
  readonly alerts: RecoverableAlerts
  readonly notices: Notices
  /** Who is told of requests that wait for an approval, and of the decisions. */
  readonly approvalReceivers: readonly string[]
  /** Where people open the console; undefined if that is not configured. */
  readonly consoleUrl: string | undefined
  /** How long a request waits for its approval, in milliseconds. */
  readonly approvalTtlMs: number
  /** How long an execution waits in the queue, in milliseconds. */
  readonly startWithinMs: number
  /** The roles of a user; undefined if there is none with this id. */
  readonly findAccount: (userId: string, queries: Queries) => Promise<CommandAccount | undefined>
  /** Runs programs; used by the worker only. */
  readonly programs: Programs
  /** The environment of a program, without its secrets. */
  readonly environment: Readonly<Record<string, string>>
  /** The name of this host. */
  readonly host: string
}
