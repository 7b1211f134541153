import { HOUR } from '../../src/kernel/time.ts'
import { CompiledQuery } from 'kysely'
import { Alerts, type Report, createSuppressions } from '../../src/domains/alerts/index.ts'
import { Notifier, type Suppressions } from '../../src/domains/alerts/notifications/notifier.ts'
import { defaultRoute, type Routing } from '../../src/domains/alerts/notifications/routing.ts'
import { NotificationSender, SEND_EVERY_MS } from '../../src/domains/alerts/notifications/sender.ts'
import { listDecisions } from '../../src/domains/alerts/notifications/store.ts'
import { Silences } from '../../src/domains/alerts/silences/service.ts'
import { RobotWebhook } from '../../src/infra/robots/robot-webhook.ts'
import type { RobotKind } from '../../src/infra/robots/adapter.ts'
import type { DeclaredAlerts } from '../../src/kernel/alerts.ts'
import { silentLogger, type Logger } from '../../src/kernel/logger.ts'
import { noMetrics, type Metrics } from '../../src/kernel/metrics.ts'
import { Secret } from '../../src/kernel/secret.ts'

import type { NotificationChannel } from '../../src/ports/notification-channel.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import type { Store } from '../../src/store/store.ts'
import { anyAlerts } from './declared-alerts.ts'
import { eventually } from './eventually.ts'
import { startRobots, TELEGRAM_CHAT } from './robots.ts'
import { testStore } from './store.ts'
import { fakeWaitingClock } from './waiting-clock.ts'

export interface NotificationWorldOptions {
  readonly kind?: RobotKind
  /** The default is those of the world's silences and alerts. */
  readonly suppressions?: Suppressions
  readonly metrics?: Metrics
  /** The default has the robot alone. */
  readonly routing?: Routing
  readonly logger?: Logger
  readonly declared?: DeclaredAlerts
}

/** The calls of one sender that are not answered yet. */
export interface Activity {
  calls: number
}

export type NotificationWorld = Awaited<ReturnType<typeof notificationWorld>>

const PATIENCE = { timeoutMs: 120_000 }
const CHANNEL = 'robot'

/** Alerts, a robot that enforces its documented limits, and senders on a fake clock. */
export async function notificationWorld(dialect: DialectName, options: NotificationWorldOptions = {}) {
  const {
    kind = 'generic',
    routing = { receivers: [CHANNEL], routes: [defaultRoute([CHANNEL], 3)], isDamping: false },
    metrics = noMetrics,
    logger = silentLogger,
    declared = anyAlerts,
  } = options
  const scope = new AsyncDisposableStack()
  const clock = fakeWaitingClock()
  const { suppressions = createSuppressions(clock) } = options
  const { store } = scope.use(await testStore(dialect, clock))
  const robots = scope.use(await startRobots({ now: clock.now, signed: true }))
  const url = new Secret(robots.url(kind))
  const secret = new Secret(robots.secrets[kind])
  const webhookWith = (change: { readonly timeoutMs: number }) =>
    new RobotWebhook({ kind, url, secret, chatId: TELEGRAM_CHAT, clock, ...change })
  const webhook = webhookWith({ timeoutMs: 60_000 })
  const parts = { store, clock, logger, metrics }
  const notifierOptions = {
    ...parts,
    suppressions,
    routing,
  } as const
  const notifier = new Notifier({ ...notifierOptions, onPending: () => undefined })
  const alerts = new Alerts({
    ...parts,
    events: { append: async () => undefined },
    notifications: notifier,
    acknowledgeForMs: 4 * HOUR,
    declared,
  })
  const silences = new Silences({ ...parts, alerts, events: { append: async () => undefined } })
  const activity: Activity = { calls: 0 }

  const sender = (change: { store?: Store; channel?: NotificationChannel; activity?: Activity } = {}) => {
    const { activity: counted = activity } = change
    const created = new NotificationSender({
      ...parts,
      store: countedStore(change.store ?? store, counted),
      channel: countedChannel(change.channel ?? webhook, counted),
      channelName: CHANNEL,
      notifier,
    })
    created.start()
    return created
  }
  const startSender = () => {
    const started = sender()
    scope.defer(() => started.stop())
    return started
  }
  const isIdle = (of: Activity) => of.calls === 0 && clock.waits().includes(SEND_EVERY_MS)
  const idle = (of: Activity = activity) => eventually('the sender is idle', () => isIdle(of), PATIENCE)
  const rows = <R>(query: string) => queryRows<R>(store, query)
  const pending = async () =>
    (await rows(`select 1 from alert_notifications where outcome = 'pending'`)).length

  return {
    store,
    clock,
    robots,
    webhook,
    webhookWith,
    notifier,
    alerts,
    silences,
    scope,
    sender,
    startSender,
    isIdle,
    idle,
    rows,
    pending,
    report: (report: Partial<Report> & Pick<Report, 'title'>) =>
      store.write((tx) => alerts.report(tx, { ...REPORT, ...report }, 'tester')),
    /** Lets time pass in steps; the sender is idle after each of them. */
    async pass(milliseconds: number, stepMs = SEND_EVERY_MS) {
      for (let passed = 0; passed < milliseconds; passed += stepMs) {
        await idle()
        clock.advance(stepMs)
      }
      await idle()
    },
    /** Lets time pass until nothing is pending; returns how long that took on the clock. */
    async drain(stepMs = SEND_EVERY_MS): Promise<number> {
      const start = clock.now()
      for (;;) {
        await idle()
        if ((await pending()) === 0) return clock.now() - start
        clock.advance(stepMs)
      }
    },
    async decisions(alertId: string) {
      const { items } = await listDecisions(store.read, { alertId }, { limit: 100 })
      return items
    },
    [Symbol.asyncDispose]: () => scope.disposeAsync(),
  }
}

const REPORT: Report = {
  alarmId: null,
  source: 'platform.backup',
  title: '',
  body: 'No space left.',
  serverAddr: null,
  level: 'ERROR',
}

async function queryRows<R>({ read }: Store, text: string): Promise<R[]> {
  const { rows } = await read.db.executeQuery<R>(CompiledQuery.raw(text))
  return rows
}

/** The promise, counted while it is not settled. */
async function counting<T>(activity: Activity, run: () => Promise<T>): Promise<T> {
  activity.calls++
  try {
    return await run()
  } finally {
    activity.calls--
  }
}

export function countedStore(store: Store, activity: Activity): Store {
  return { ...store, write: (work, options) => counting(activity, () => store.write(work, options)) }
}

export function countedChannel(channel: NotificationChannel, activity: Activity): NotificationChannel {
  return {
    rate: channel.rate,
    ...(channel.needs !== undefined && { needs: channel.needs }),
    fits: (message) => channel.fits(message),
    send: (message, signal) => counting(activity, () => channel.send(message, signal)),
  }
}
