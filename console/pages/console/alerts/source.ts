import type { AnswerOf } from '../../../api/operations.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, session } from '../platform.ts'
import { listOf, resourceOf } from '../sources.ts'
import { settingsResource } from '../settings/model.ts'
import { ALERT_FILTERS, alertIn } from './model.ts'

const PREFIX = 'alert.'

/** The list of the alerts, as the filters of the address say. */
export const alertList = listOf('listAlerts', PREFIX, {
  filters: ALERT_FILTERS,
  keyOf: ({ id }) => id,
  fromEvent: alertIn,
})

/** One alert. */
export const alertResource = resourceOf('getAlert', PREFIX, (id) => ({ path: { id } }), {
  isAbout: (event, id) => alertIn(event)?.id === id,
})

/** The changes of one alert. */
export const alertHistory: ResourceSource<AnswerOf<'getAlertHistory'>> = {
  ...alertResource,
  read: (id, signal) => call('getAlertHistory', { path: { id }, query: {} }, signal),
}

/** The decisions about its notifications. */
export const alertDecisions: ResourceSource<AnswerOf<'listAlertDecisions'>> = {
  ...alertResource,
  read: (id, signal) => call('listAlertDecisions', { path: { id }, query: {} }, signal),
}

/** How long an acknowledgement lasts; unknown to users who may not read the settings. */
export const acknowledgeFor: ResourceSource<{ readonly duration?: string }> = {
  ...settingsResource,
  async read(id, signal) {
    if (!session.may('getConfig')) return { ok: true, value: {}, etag: null }
    const settings = await settingsResource.read(id, signal)
    if (!settings.ok) return settings
    const { value } = settings.value.items.find(({ key }) => key === 'alerts.acknowledge_for') ?? {}
    return { ok: true, value: value === undefined ? {} : { duration: value }, etag: null }
  },
}
