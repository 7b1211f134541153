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
import { readPages } from '../../kernel/page.ts'
import {
  readBusStream,
  type BusStreamMark,
  listServing,
  type ServingProcess,
} from '../../store/work/marks.ts'
import type { Store } from '../../store/store.ts'
import type { Domains } from '../domains.ts'
import type { FactReader } from './fact-reader.ts'

/** What the database says of the platform that uses it. What cannot be read is undefined. */
export interface Activity {
  readonly processes: readonly ServingProcess[] | undefined
  /** The configured ones. */
  readonly receivers: readonly ReceiverView[] | undefined
  /** The active ones, newest first. */
  readonly silences: readonly SilenceView[] | undefined
  /** Those that run, then the oldest that wait; at most {@link EXAMINED_EXECUTIONS}. */
  readonly executions: readonly UnfinishedExecution[] | undefined
  readonly hasUsers: boolean | undefined
  readonly hasAdmin: boolean | undefined
  readonly busStream: BusStreamMark | undefined
  /** The message that waits for the bus longest. */
  readonly oldestPending: OldestPending | undefined
  readonly deadMessages: number | undefined
  /** The most severe of the platform that nobody works on. */
  readonly alerts: readonly AlertView[] | undefined
  /** All. */
  readonly webhooks: readonly Webhook[] | undefined
}

const PAGE = 1_000
// Those of orders are alerts of the platform, too.
const EXAMINED_ALERTS = 1_000
export const EXAMINED_EXECUTIONS = 1_000
const UNATTENDED = { status: ['firing', 'frozen'], text: 'platform.' } as const

/** The schema must be current. */
export async function readActivity(
  { read }: Store,
  domains: Domains,
  { clock, facts }: { readonly clock: Clock; readonly facts: FactReader },
): Promise<Activity> {
  const { users } = domains.users
  const { messages } = domains.messages
  const { alerts, notices, silences } = domains.alerts
  return {
    processes: await facts.read(() => listServing(read, clock.now())),
    receivers: await facts.read(() => readPages((after) => notices.list({ limit: PAGE, after }))),
    silences: await facts.read(() => readPages((after) => silences.list('active', { limit: PAGE, after }))),
    executions: await facts.read(() => listUnfinished(read, EXAMINED_EXECUTIONS)),
    hasUsers: await facts.read(async () => (await users.list({ limit: 1 })).items.length > 0),
    hasAdmin: await facts.read(() => users.hasEnabledAdmin()),
    busStream: await facts.read(() => readBusStream(read)),
    oldestPending: await facts.read(() => messages.oldestPending()),
    deadMessages: (await facts.read(() => messages.deadLetters()))?.messages,
    alerts: (
      await facts.read(() => alerts.list(UNATTENDED, { limit: EXAMINED_ALERTS, order: MOST_SEVERE_FIRST }))
    )?.items,
    webhooks: (await facts.read(() => domains.webhooks.webhooks.list({ limit: MAX_WEBHOOKS })))?.items,
  }
}
