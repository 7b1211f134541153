import type { WaitingClock } from '../../../kernel/clock.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Metrics } from '../../../kernel/metrics.ts'
import type { NotificationChannel } from '../../../ports/notification-channel.ts'
import type { Store } from '../../../store/store.ts'
import type { ModuleRunner } from '../../../wire/domain.ts'
import { weightOf, type Severity } from '../model.ts'
import { Notifier, type Suppressions } from './notifier.ts'
import { NotificationSender } from './sender.ts'

/** What the notifications of alerts need of the rest of the platform. */
export interface NotificationDeps {
  readonly store: Store
  readonly clock: WaitingClock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly suppressions: Suppressions
  /** Undefined if none is configured. */
  readonly channel: NotificationChannel | undefined
  /** Less severe alerts are not pushed. */
  readonly minSeverity: Severity
}

// In decisions, as a label of metrics, and as the name of the channel's row in the database.
export const ROBOT = 'robot'

/** The notifier, which decides in every process that reports alerts, and the sender, which runs in the worker. */
export function createNotifications({ channel, minSeverity, ...deps }: NotificationDeps): {
  notifier: Notifier
  runners: ModuleRunner[]
} {
  const notifier = new Notifier({
    ...deps,
    channelName: ROBOT,
    isEnabled: channel !== undefined,
    minWeight: weightOf({ level: minSeverity }),
    onPending: () => sender?.wake(),
  })
  const sender =
    channel &&
    new NotificationSender({
      ...deps,
      channel,
      channelName: ROBOT,
      judgeAgain: (tx, pending) => notifier.judgeAgain(tx, pending),
      count: (outcome, by) => notifier.count(outcome, by),
    })
  return { notifier, runners: sender ? [sender] : [] }
}
