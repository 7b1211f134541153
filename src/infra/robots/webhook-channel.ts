import { EVENT_HEADERS, eventSource, toCloudEvent } from '../../kernel/events.ts'
import { systemClock, type Clock } from '../../kernel/clock.ts'
import type { Secret } from '../../kernel/secret.ts'
import { webhookHeaders } from '../../kernel/standard-webhook.ts'
import { toRfc3339 } from '../../kernel/time.ts'
import type { ChannelMessage, NotificationChannel, SendOutcome } from '../../ports/notification-channel.ts'
import { SENT, type RobotAdapter, statusVerdict } from './adapter.ts'
import { RobotWebhook } from './robot-webhook.ts'

export interface WebhookChannelOptions {
  /** The name of the receiver. */
  readonly name: string
  readonly url: Secret
  readonly secret: Secret | undefined
  readonly clock?: Clock
  readonly timeoutMs?: number
}

// Most servers refuse a body of more than 1 MiB.
const MAXIMUM_BYTES = 524_288

/** The alerts as they are, in one CloudEvents envelope that is signed as a Standard Webhook. Any 2xx is success. */
export class WebhookChannel implements NotificationChannel {
  readonly needs = 'alerts'
  readonly #webhook: RobotWebhook

  constructor({ name, clock = systemClock, ...options }: WebhookChannelOptions) {
    this.#webhook = new RobotWebhook({ kind: adapterOf(name), clock, ...options })
  }

  get rate() {
    return this.#webhook.rate
  }

  /** A message has one occasion. */
  fits(message: ChannelMessage): boolean {
    return (message.about?.occasions.length ?? 0) <= 1 && this.#webhook.fits(message)
  }

  send(message: ChannelMessage, signal?: AbortSignal): Promise<SendOutcome> {
    return this.#webhook.send(message, signal)
  }
}

function adapterOf(name: string): RobotAdapter {
  return {
    // As the generic robot.
    rate: { burst: 40, everyMs: 3_000 },
    maximumSize: MAXIMUM_BYTES,
    size: (message) => Buffer.byteLength(bodyOf(name, message, 0)),
    request(message, { url, secret = '', now }) {
      const body = bodyOf(name, message, now)
      const signature = webhookHeaders([secret], now, { id: message.key, body })
      return { url, headers: { ...EVENT_HEADERS, ...signature }, body }
    },
    verdict: (reply, now) => (reply.status >= 200 && reply.status < 300 ? SENT : statusVerdict(reply, now)),
  }
}

/** A notice has no alert; it has its texts. */
function bodyOf(name: string, { key, title, text, links = [], about }: ChannelMessage, now: number): string {
  const { occasions = ['notice'], alerts = [] } = about ?? {}
  const attributes = {
    id: key,
    source: eventSource('alerts'),
    type: 'alert.notification',
    subject: name,
    time: toRfc3339(now),
  }
  const members = {
    receiver: name,
    occasion: occasions[0] ?? 'notice',
    ...(alerts.length === 0 && { title, text, url: links[0]?.url ?? null }),
  }
  return toCloudEvent(attributes, `${JSON.stringify(members).slice(0, -1)},"alerts":[${alerts.join(',')}]}`)
}
