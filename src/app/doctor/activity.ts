import type { ReceiverView } from '../../domains/alerts/index.ts'
import { listUnfinished, type UnfinishedExecution } from '../../domains/commands/index.ts'
import type { Clock } from '../../kernel/clock.ts'
import { readBusStream, type BusStreamMark } from '../../store/bus-stream-mark.ts'
import type { Store } from '../../store/store.ts'
import { listServing, type ServingProcess } from '../../store/work/serving.ts'
import type { Domains } from '../domains.ts'

/** What the database says of the platform that uses it. */
export interface Activity {
  readonly processes: readonly ServingProcess[]
  /** The configured ones. */
  readonly receivers: readonly ReceiverView[]
  /** The oldest of them. */
  readonly executions: readonly UnfinishedExecution[]
  readonly hasUsers: boolean
  readonly hasAdmin: boolean
  readonly busStream: BusStreamMark | undefined
}

const EXAMINED = 100

/** The schema must be current. */
export async function readActivity({ read }: Store, domains: Domains, clock: Clock): Promise<Activity> {
  const { users } = domains.users
  return {
    processes: await listServing(read, clock.now()),
    receivers: (await domains.alerts.notices.list({ limit: EXAMINED })).items,
    executions: await listUnfinished(read, EXAMINED),
    hasUsers: (await users.list({ limit: 1 })).items.length > 0,
    hasAdmin: await users.hasEnabledAdmin(),
    busStream: await readBusStream(read),
  }
}
