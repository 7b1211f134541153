import type { AnswerOf } from '../../../api/operations.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live } from '../platform.ts'
import type { OverviewSeries } from './model.ts'

const PAUSE_MS = 2_000
// The numbers come from several domains: any event may change them.
const ANY_EVENT = { live, prefix: '', isAbout: () => true, pauseMs: PAUSE_MS }

/** The state of the platform now. */
export const overviewResource: ResourceSource<AnswerOf<'getOverview'>> = {
  ...ANY_EVENT,
  read: (_, signal) => call('getOverview', {}, signal),
}

/** Its course over the last hours; the id is their number. */
export const overviewSeries: ResourceSource<OverviewSeries> = {
  ...ANY_EVENT,
  read: (hours, signal) => call('getOverviewSeries', { query: { hours: Number(hours) } }, signal),
}
