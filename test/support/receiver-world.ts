import { alertsDomain, type Report } from '../../src/domains/alerts/index.ts'
import type { RouteSettings, RoutingSettings } from '../../src/domains/alerts/notifications/notifications.ts'
import { SEND_EVERY_MS } from '../../src/domains/alerts/notifications/sender.ts'
import type { WaitingClock } from '../../src/kernel/clock.ts'
import { silentLogger, type Logger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { DAY, HOUR, SECOND } from '../../src/kernel/time.ts'
import type {
  ChannelMessage,
  NotificationChannel,
  SendOutcome,
} from '../../src/ports/notification-channel.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import type { Store } from '../../src/store/store.ts'
import { anyAlerts } from './declared-alerts.ts'
import { eventually } from './eventually.ts'
import { countedChannel, countedStore, type Activity } from './notification-world.ts'
import { testStore } from './store.ts'
import { fakeWaitingClock, type FakeWaitingClock } from './waiting-clock.ts'

export interface ReceiverWorldOptions {
  readonly names: readonly string[]
  readonly routes?: readonly (Partial<RouteSettings> & Pick<RouteSettings, 'receivers'>)[]
  readonly defaultReceivers?: readonly string[]
  readonly needs?: NotificationChannel['needs']
  /** The channel of a receiver; by default one that records what it gets. */
  readonly channelOf?: (name: string, clock: FakeWaitingClock) => NotificationChannel
  readonly logger?: Logger
  /** Epoch milliseconds. */
  readonly start?: number
}

const FAILURE: SendOutcome = { sent: false, reason: 'away', retryable: true, fault: 'receiver' }

/** The alerts with receivers that record what they get, on a fake clock. */
export async function receiverWorld(dialect: DialectName, options: ReceiverWorldOptions) {
  const { names, routes, defaultReceivers, needs, logger = silentLogger, start } = options
  const scope = new AsyncDisposableStack()
  const clock = fakeWaitingClock(start)
  const { store } = scope.use(await testStore(dialect, clock))
  const activity: Activity = { calls: 0 }
  const messages = new Map<string, ChannelMessage[]>(names.map((name) => [name, []]))
  const answers = new Map<string, SendOutcome>()
  const recordingChannel = (name: string): NotificationChannel => ({
    rate: { burst: 100, everyMs: 100 },
    ...(needs !== undefined && { needs }),
    fits: () => true,
    async send(message) {
      const answer = answers.get(name) ?? { sent: true, answer: 'thanks' }
      if (answer.sent) messages.get(name)?.push(message)
      return answer
    },
  })
  const { channelOf = recordingChannel } = options
  const channels = new Map(names.map((name) => [name, countedChannel(channelOf(name, clock), activity)]))
  const domain = createAlertsDomain({
    store: countedStore(store, activity),
    clock,
    logger,
    channels,
    routing: routingOf(routes, defaultReceivers),
  })
  for (const runner of domain.runners.worker) {
    runner.start()
    scope.defer(() => runner.stop())
  }
  const isIdle = () =>
    activity.calls === 0 && clock.waits().filter((wait) => wait === SEND_EVERY_MS).length === names.length
  const idle = () => eventually('the senders are idle', isIdle)
  const jobs = timedJobs(domain)
  return {
    ...domain,
    alerts: domain.service,
    store,
    clock,
    channels,
    messages,
    answers,
    titles: (name: string) => (messages.get(name) ?? []).map(({ title }) => title),
    fail: (name: string) => void answers.set(name, FAILURE),
    mend: (name: string) => void answers.delete(name),
    report: (report: Partial<Report> = {}) =>
      store.write((tx) => domain.service.report(tx, { ...REPORT, ...report }, 'tester')),
    /** Lets time pass in steps, and then runs the jobs; what is due then is sent. */
    async pass(milliseconds = 2 * SECOND, stepMs = Math.min(milliseconds, 2 * SECOND)) {
      for (let passed = 0; passed < milliseconds; passed += stepMs) {
        await idle()
        clock.advance(stepMs)
        await idle()
        for (const job of jobs) await job.run(new AbortController().signal)
        await idle()
        // What one source raises within a second is one message.
        clock.advance(2 * SECOND)
        await idle()
      }
    },
    [Symbol.asyncDispose]: () => scope.disposeAsync(),
  }
}

interface DomainParts {
  readonly store: Store
  readonly clock: WaitingClock
  readonly logger?: Logger
  readonly channels: ReadonlyMap<string, NotificationChannel>
  readonly routing: RoutingSettings
}

/** The alerts of a process with these receivers. */
export function createAlertsDomain({ store, clock, logger = silentLogger, channels, routing }: DomainParts) {
  return alertsDomain.create({
    store,
    clock,
    logger,
    metrics: noMetrics,
    events: { append: async () => undefined },
    version: '0',
    userNames: async () => [],
    declared: anyAlerts,
    acknowledgeForMs: 4 * HOUR,
    keepMs: 90 * DAY,
    webhookStaleAfterMs: DAY,
    consoleUrl: 'https://shop.example.org',
    receivers: [...channels].map(([name, channel]) => ({ name, kind: 'generic', channel })),
    routing,
  })
}

export function routingOf(
  routes: ReceiverWorldOptions['routes'] = [],
  defaultReceivers: readonly string[] = [],
): RoutingSettings {
  return {
    routes: routes.map((route, index) => ({
      name: index + 1,
      match: {},
      escalate: [],
      continue: false,
      ...route,
    })),
    defaultReceivers,
    minSeverity: 'WARNING',
    isDamping: true,
  }
}

/** The jobs of the worker that tell of what is due. */
export function timedJobs({ jobs }: ReturnType<typeof createAlertsDomain>) {
  return jobs.worker.filter(({ name }) =>
    ['alert-escalation', 'alert-receivers', 'alert-time', 'alert-silence-end'].includes(name),
  )
}

const REPORT: Report = {
  alarmId: 'backup.failed',
  source: 'platform.backup',
  title: 'Backup failed',
  body: 'No space left.',
  serverAddr: null,
  level: 'ERROR',
}
