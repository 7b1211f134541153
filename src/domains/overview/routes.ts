import { ROLES } from '../../kernel/identity.ts'
import { JsonText } from '../../kernel/json-text.ts'
import { ok, route, type Route } from '../../wire/route.ts'
import { DEFAULT_HOURS } from './model.ts'
import { encodeOverview, encodeSeries, OverviewSchema, SeriesQuery, SeriesSchema } from './schemas.ts'
import type { Overview } from './service.ts'

const TAG = 'Overview'

/** docs/specification.md, Overview */
export function overviewRoutes(overview: Overview): Route[] {
  return [
    route({
      method: 'GET',
      path: '/overview',
      operation: 'getOverview',
      tag: TAG,
      summary: 'The state of the whole platform',
      description: 'Each part needs a role of the list of its objects, and is null without.',
      access: ROLES,
      answers: { 200: { description: 'The state now.', schema: OverviewSchema } },
      read: async ({ identity }) => ok(new JsonText(encodeOverview(await overview.read(identity)))),
    }),
    route({
      method: 'GET',
      path: '/overview/series',
      operation: 'getOverviewSeries',
      tag: TAG,
      summary: 'Orders, alerts and sessions of the last hours, in steps of five minutes',
      description:
        'A value that no worker has recorded is null, and so is a value whose list the caller may not read.',
      access: ROLES,
      query: SeriesQuery,
      answers: { 200: { description: 'The steps.', schema: SeriesSchema } },
      read: async ({ query: { hours = DEFAULT_HOURS }, identity }) =>
        ok(new JsonText(encodeSeries(await overview.series(hours, identity)))),
    }),
  ]
}
