import type { Clock } from '../../../kernel/clock.ts'
import { hash } from 'node:crypto'
import { declaredAlarmId, type AlertTable } from '../../../kernel/alerts.ts'
import { AppError } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import type { Job } from '../../../kernel/job.ts'
import { orderByText, pageOfNamed, type Page, type PageRequest } from '../../../kernel/page.ts'
import { HOUR, MINUTE } from '../../../kernel/time.ts'
import type { PlatformAlert, RecoverableAlerts } from '../../../ports/alerts.ts'
import type {
  Notice,
  Notices,
  ChannelMessage,
  NotificationChannel,
} from '../../../ports/notification-channel.ts'
import type { Store, Tx } from '../../../store/store.ts'
import { queuedWork } from '../../../store/work/work-queue.ts'
import { sanitizeBody, sanitizeText } from '../text.ts'
import { BODY_BYTES, TITLE_LENGTH } from '../model.ts'
import { shortenMessage } from './message.ts'
import { NO_FAILURES, recordSuccess } from './sender.ts'
import {
  countPendingOf,
  failUnconfigured,
  listReceiverRows,
  queueNotice,
  recordAttempt,
} from './message-store.ts'

/** A configured receiver of notifications. */
export interface Receiver {
  /** `robot` for the one that `alerts.robot` configures. */
  readonly name: string
  readonly kind: string
  readonly channel: NotificationChannel
}

/** A receiver as the API shows it. */
export interface ReceiverView {
  readonly name: string
  readonly kind: string
  readonly state: 'ok' | 'failing'
  readonly lastSuccessAt: number | null
  readonly lastError: string | null
  readonly pending: number
  /** The first failure since the last success. */
  readonly failingSince: number | null
}

export const RECEIVER_ALERTS = {
  'receiver.failing:*': {
    severities: ['ERROR'],
    raisedBy: 'A receiver of notifications has failed for 15 minutes; `*` is its name.',
    endedBy: 'The receiver accepts a message or a test, or is not configured any more.',
    whatToDo:
      'Look at its last error (`GET /alerts/receivers`), and mend its address, secret or server. After a change of the configuration ' +
      'restart the platform, which reads it only at its start; then run `platform alerts test NAME`: while nothing waits for the ' +
      'receiver, only a test tries it.',
  },
} as const satisfies AlertTable

export const BY_NAME = orderByText('name', 'name')

const CHECK_EVERY_MS = MINUTE
// docs/specification.md, Alert notifications
const GIVE_UP_AFTER_MS = 24 * HOUR

export interface ReceiversDeps {
  readonly store: Store
  readonly clock: Clock
  readonly receivers: readonly Receiver[]
  readonly alerts: RecoverableAlerts
  /** Wakes the sender of the receiver. */
  readonly wake: (receiver: string) => void
}

/** The configured receivers: their health, test messages, and notices to them. */
export class Receivers implements Notices {
  readonly #deps: ReceiversDeps

  constructor(deps: ReceiversDeps) {
    this.#deps = deps
  }

  /** By name. */
  async list(request: PageRequest<'name'>): Promise<Page<ReceiverView>> {
    const { receivers, store } = this.#deps
    const shown = pageOfNamed(receivers, ({ name }) => name, request, { order: BY_NAME, list: 'receivers' })
    const rows = new Map((await listReceiverRows(store.read)).map((row) => [row.name, row]))
    const items: ReceiverView[] = await Promise.all(
      shown.items.map(async ({ name, kind }) => {
        const { failingSince = null, lastSuccessAt = null, lastError = null } = rows.get(name) ?? {}
        const state = failingSince === null ? 'ok' : 'failing'
        return {
          name,
          kind,
          state,
          lastSuccessAt,
          lastError,
          failingSince,
          pending: (await countPendingOf(store.read, name)) ?? 0,
        }
      }),
    )
    return { items, next: shown.next }
  }

  /** Sends a marked message at once. Rejects with `receiver_not_found`. */
  async test(name: string): Promise<TestOutcome> {
    const receiver = this.#deps.receivers.find((each) => each.name === name)
    if (!receiver)
      throw new AppError('not_found', 'receiver_not_found', `There is no receiver ${JSON.stringify(name)}.`)
    return testReceiver(receiver)
  }

  /** Records that a receiver works if a test was delivered. A failed test changes nothing. */
  async recordTest(tx: Tx, name: string, { delivered }: Pick<TestOutcome, 'delivered'>): Promise<void> {
    const { clock, wake } = this.#deps
    if (!delivered) return
    await recordSuccess(tx, name, { at: clock.now(), report: this.report.bind(this) })
    tx.afterCommit(() => wake(name))
  }

  async tell(tx: Tx, names: readonly string[], { key, title, text, url }: Notice): Promise<void> {
    const { clock, receivers, wake } = this.#deps
    const content = {
      title: sanitizeText(title, TITLE_LENGTH),
      text: [...(url === undefined ? [] : [url]), sanitizeBody(text, BODY_BYTES)].join('\n'),
      level: 'INFO',
      ...(url !== undefined && { links: [{ kind: 'open', url } as const] }),
    }
    for (const { name, channel } of receivers.filter((each) => names.includes(each.name))) {
      const id = noticeId(name, key)
      const { links, ...texts } = shortenMessage(content, (message) => channel.fits({ ...message, key: id }))
      await queueNotice(tx, {
        id,
        channel: name,
        ...texts,
        details: links ? { links } : null,
        ...NO_FAILURES,
        isNotice: true,
        ...queuedWork(clock.now()),
      })
      tx.afterCommit(() => wake(name))
    }
  }

  /** Raises or ends the alert about a receiver; `problem` is undefined when it works again. */
  async report(tx: Tx, name: string, problem: string | undefined): Promise<void> {
    const { alerts } = this.#deps
    const alert = {
      alarmId: declaredAlarmId(RECEIVER_ALERTS, 'receiver.failing:*', name),
      source: 'platform.alerts',
    }
    if (problem === undefined)
      return alerts.recoverIfRaised(tx, {
        ...alert,
        title: `The receiver ${name} works again`,
        body: 'It has accepted a message, or is not configured any more.',
      })
    return alerts.raise(tx, {
      ...alert,
      title: `The receiver ${name} has failed for 15 minutes`,
      body: `Notifications wait for it, and are given up after 24 hours. ${problem}`,
      severity: 'ERROR',
    } satisfies PlatformAlert)
  }

  /** Gives up the old messages to receivers that are not configured any more, and ends the alerts about these receivers. */
  async settleRemoved(): Promise<void> {
    const { clock, receivers, store } = this.#deps
    const names = receivers.map(({ name }) => name)
    const rows = await listReceiverRows(store.read)
    const removed = rows.filter(({ name }) => !names.includes(name))
    if (removed.length === 0) return
    await store.write(async (tx) => {
      await failUnconfigured(tx, names, clock.now() - GIVE_UP_AFTER_MS)
      for (const { name, isReported } of removed) {
        if (!isReported) continue
        await recordAttempt(tx, name, { failingSince: null, isReported: false })
        await this.report(tx, name, undefined)
      }
    })
  }
}

export interface TestOutcome {
  readonly delivered: boolean
  readonly answer: string
}

/** Sends a marked message to a receiver, and says what the other side has answered. */
export async function testReceiver({ name, channel }: Receiver): Promise<TestOutcome> {
  const message: ChannelMessage = {
    title: `[INFO] Test of the receiver ${name}`,
    text: 'The platform can send alerts here.',
    level: 'INFO',
    key: newId(),
    // A channel without `needs` sends the text alone.
    ...(channel.needs !== undefined && {
      about: { occasions: ['test'], isFiring: false, severity: 'INFO', alertIds: [], alerts: [] },
    }),
  }
  const outcome = await channel.send(message)
  const answer = outcome.sent
    ? [outcome.answer, outcome.warning].filter((each) => each !== undefined).join(' ')
    : outcome.reason
  return { delivered: outcome.sent, answer }
}

/** A message has the same id for each attempt, and another one for each receiver. */
function noticeId(receiver: string, key: string): string {
  return `notice-${hash('sha256', JSON.stringify([receiver, key])).slice(0, 40)}`
}

export function removedReceiverJob(receivers: Pick<Receivers, 'settleRemoved'>): Job {
  return { name: 'alert-receivers', everyMs: CHECK_EVERY_MS, run: () => receivers.settleRemoved() }
}
