import {
  MOST_SEVERE_FIRST,
  type AlertView,
  type ReceiverView,
  type SilenceView,
} from '../../domains/alerts/index.ts'
import { listUnfinished, type UnfinishedExecution } from '../../domains/commands/index.ts'
import type { OldestPending } from '../../domains/messages/index.ts'
import { MAX_WEBHOOKS, type Webhook } from '../../domains/webhooks/index.ts'
import type { Clock } from '../../kernel/clock.ts'
import {
  readBusStream,
  type BusStreamMark,
  listServing,
  type ServingProcess,
} from '../../store/work/marks.ts'
import type { Store } from '../../store/store.ts'
import type { Domains } from '../domains.ts'

/** What the database says of the platform that uses it. */
export interface Activity {
  readonly processes: readonly ServingProcess[]
  /** The configured ones. */
  readonly receivers: readonly ReceiverView[]
  /** The newest of the active ones. */
  readonly silences: readonly SilenceView[]
  /** The oldest of them. */
  readonly executions: readonly UnfinishedExecution[]
  readonly hasUsers: boolean
  readonly hasAdmin: boolean
  readonly busStream: BusStreamMark | undefined
  /** The message that waits for the bus longest. */
  readonly oldestPending: OldestPending | undefined
  readonly deadMessages: number
  /** The most severe of the platform that nobody works on. */
  readonly alerts: readonly AlertView[]
  /** All. */
  readonly webhooks: readonly Webhook[]
}

const EXAMINED = 100
// Those of orders are alerts of the platform, too.
const EXAMINED_ALERTS = 1_000
const UNATTENDED = { status: ['firing', 'frozen'], text: 'platform.' } as const

/** The schema must be current. */
export async function readActivity({ read }: Store, domains: Domains, clock: Clock): Promise<Activity> {
  const { users } = domains.users
  const { messages } = domains.messages
  const { alerts, notices, silences } = domains.alerts
  return {
    processes: await listServing(read, clock.now()),
    receivers: (await notices.list({ limit: EXAMINED })).items,
    silences: (await silences.list('active', { limit: EXAMINED })).items,
    executions: await listUnfinished(read, EXAMINED),
    hasUsers: (await users.list({ limit: 1 })).items.length > 0,
    hasAdmin: await users.hasEnabledAdmin(),
    busStream: await readBusStream(read),
    oldestPending: await messages.oldestPending(),
    deadMessages: (await messages.deadLetters()).messages,
    alerts: (await alerts.list(UNATTENDED, { limit: EXAMINED_ALERTS, order: MOST_SEVERE_FIRST })).items,
    webhooks: (await domains.webhooks.webhooks.list({ limit: MAX_WEBHOOKS })).items,
  }
}
