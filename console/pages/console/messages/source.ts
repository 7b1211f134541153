import type { ListSource } from '../../../parts/list/use-list.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live } from '../platform.ts'
import { isWaiting, MESSAGE_FILTERS, type Message } from './model.ts'

const PAGE_LENGTH = 50
// Every event is a message. Its delivery, which comes after the event, has none of its own.
const PREFIX = ''
const PAUSE_MS = 2_000

/** The list of the messages, as the filters of the address say. */
export const messageList: ListSource<Message> = {
  filters: MESSAGE_FILTERS,
  live,
  prefix: PREFIX,
  read: (query, signal) => call('listMessages', { query: { ...query, limit: PAGE_LENGTH } }, signal),
  keyOf: ({ id }) => id,
  fromEvent: () => 'changed',
  isUnsettled: isWaiting,
}

/** One message. */
export const messageResource: ResourceSource<Message> = {
  live,
  prefix: PREFIX,
  read: (id, signal) => call('getMessage', { path: { id } }, signal),
  isAbout: () => true,
  pauseMs: PAUSE_MS,
}

// docs/specification.md, Messages
const ALERT_SOURCE = 'platform.messages'
const MOST_READ = 200

/** The alert about a dead message: the newest alerts of its source have it. */
export const alertOfMessage: ResourceSource<{ readonly alertId: string | null }> = {
  live,
  prefix: 'alert.',
  async read(id, signal) {
    const alerts = await call('listAlerts', { query: { source: ALERT_SOURCE, limit: MOST_READ } }, signal)
    if (!alerts.ok) return alerts
    const alert = alerts.value.items.find(({ alarm_id }) => alarm_id === `message.dead:${id}`)
    return { ok: true, value: { alertId: alert?.id ?? null }, etag: null }
  },
  isAbout: () => true,
  pauseMs: PAUSE_MS,
}
