import { Type, type Static } from 'typebox'
import { requireAllowedText } from '../../../kernel/alerts.ts'
import { invalidField } from '../../../kernel/errors.ts'
import { parseTime } from '../../../wire/codec.ts'
import { SHARED_ERRORS } from '../../../wire/error-codes.ts'
import { ok, routeOf, type Route } from '../../../wire/route.ts'
import { Id, IdParams, OneOf, Text, Timestamp } from '../../../wire/schemas.ts'
import { ZERO_TIME } from '../intake/parse.ts'
import { matchesText, parseMatcher, patternFault, type LabelMatcher } from '../labels.ts'
import { ALERT_OPERATORS, ALERT_READERS } from '../model.ts'
import { ALERT_ERRORS } from '../routes.ts'
import type { NewSilence } from '../silences/model.ts'
import { SILENCE_READERS } from '../silences/routes.ts'
import type { Silences } from '../silences/service.ts'
import type { Alertmanager, AlertmanagerFilter } from './service.ts'

const route = routeOf('Alerts')

const { silence_not_found } = ALERT_ERRORS
const { forbidden_variable } = SHARED_ERRORS

/** docs/specification.md, Prometheus and Alertmanager */
export function alertmanagerRoutes(alertmanager: Alertmanager, silences: Silences): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/v2/status',
      operation: 'getAlertmanagerStatus',
      summary: 'The status, as that of an Alertmanager',
      access: ALERT_READERS,
      query: NoQuery,
      answers: { 200: { description: 'Version and receivers.', schema: AlertmanagerStatus } },
      read: () => ok(alertmanager.status()),
    }),
    route({
      method: 'GET',
      path: '/api/v2/receivers',
      operation: 'listAlertmanagerReceivers',
      summary: 'The names of the receivers, as those of an Alertmanager',
      access: ALERT_READERS,
      query: NoQuery,
      answers: { 200: { description: 'The receivers.', schema: AlertmanagerReceivers } },
      read: () => ok(alertmanager.receivers()),
    }),
    route({
      method: 'GET',
      path: '/api/v2/alerts',
      operation: 'listAlertmanagerAlerts',
      summary: 'The alerts that have not recovered, as an Alertmanager shows them',
      description: 'Newest first; at most 8 MiB.',
      access: ALERT_READERS,
      query: AlertmanagerQuery,
      answers: { 200: { description: 'The alerts.', schema: AlertmanagerAlerts } },
      read: async ({ query }) => ok(await alertmanager.alerts(filterOf(query))),
    }),
    route({
      method: 'GET',
      path: '/api/v2/alerts/groups',
      operation: 'listAlertmanagerGroups',
      summary: 'The same alerts, grouped by their sources',
      access: ALERT_READERS,
      query: AlertmanagerQuery,
      answers: { 200: { description: 'The groups.', schema: AlertmanagerGroups } },
      read: async ({ query }) => ok(await alertmanager.groups(filterOf(query))),
    }),
    ...silenceRoutesOf(alertmanager, silences),
  ]
}

function silenceRoutesOf(alertmanager: Alertmanager, silences: Silences): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/v2/silences',
      operation: 'listAlertmanagerSilences',
      summary: 'The silences, as an Alertmanager shows them',
      description:
        'Those that have not ended, then those that have ended within five days. One that repeats has the times of its current ' +
        'or next window.',
      access: SILENCE_READERS,
      query: SilencesQuery,
      answers: { 200: { description: 'The silences.', schema: Type.Array(AlertmanagerSilence) } },
      read: async ({ query }) => ok(await alertmanager.silences(parseMatchers(query.filter))),
    }),
    route({
      method: 'POST',
      path: '/api/v2/silences',
      operation: 'postAlertmanagerSilence',
      summary: 'Silence alerts by their labels, as a client of an Alertmanager does',
      description:
        'With the `id` of a silence that one ends, and the new one has another id. Regular expressions are those of RE2, with at ' +
        'most 1,000 instructions.',
      access: ALERT_OPERATORS,
      query: NoQuery,
      body: NewAlertmanagerSilence,
      answers: { 200: { description: 'The id of the new silence.', schema: Type.Object({ silenceID: Id }) } },
      errors: { silence_not_found, forbidden_variable },
      prepare: ({ body }) => newSilenceOf(body),
      audit: { kind: 'silence', id: (_request, answer) => (answer as { silenceID: string }).silenceID },
      change: async (tx, { identity }, { id: replaced, ...wanted }) => {
        if (replaced !== undefined) await silences.end(tx, replaced, identity.id)
        const { id } = await silences.create(tx, wanted, identity.id)
        return ok({ silenceID: id })
      },
    }),
    route({
      method: 'GET',
      path: '/api/v2/silence/:id',
      operation: 'getAlertmanagerSilence',
      summary: 'Read one silence, as an Alertmanager shows it',
      access: SILENCE_READERS,
      query: NoQuery,
      params: IdParams,
      answers: { 200: { description: 'The silence.', schema: AlertmanagerSilence } },
      errors: { silence_not_found },
      read: async ({ params }) => ok(await alertmanager.silence(await silences.get(params.id))),
    }),
    route({
      method: 'DELETE',
      path: '/api/v2/silence/:id',
      operation: 'deleteAlertmanagerSilence',
      summary: 'End a silence now, as a client of an Alertmanager does',
      access: ALERT_OPERATORS,
      query: NoQuery,
      params: IdParams,
      answers: { 200: { description: 'The silence has ended.' } },
      errors: { silence_not_found },
      audit: { kind: 'silence' },
      change: async (tx, { params, identity }) => {
        await silences.end(tx, params.id, identity.id)
        return ok(undefined)
      },
    }),
  ]
}

// The interface has names in camelCase, and its answers may get more members: none of the schemas is closed.

const Name = Type.String({ description: 'The name of a receiver.', examples: ['robot'] })
const LabelsSchema = Type.Record(Type.String(), Type.String(), { description: 'Texts by name.' })

const AlertmanagerStatus = Type.Object({
  cluster: Type.Object({
    status: Type.String({ description: '`disabled`: the platform is no cluster of Alertmanagers.' }),
    peers: Type.Array(Type.Unknown()),
  }),
  versionInfo: Type.Record(Type.String(), Type.String(), { description: 'The versions of the platform.' }),
  config: Type.Object({
    original: Type.String({ description: 'YAML: one route, and the names of the receivers.' }),
  }),
  uptime: Timestamp,
})

const AlertmanagerReceivers = Type.Array(Type.Object({ name: Name }))

const AlertmanagerAlert = Type.Object({
  fingerprint: Type.String({ description: 'The hash of the labels.' }),
  labels: LabelsSchema,
  annotations: LabelsSchema,
  receivers: AlertmanagerReceivers,
  startsAt: Type.String({ format: 'date-time', description: 'Since when it fires, as its sender says.' }),
  updatedAt: Type.String({ format: 'date-time', description: 'The time of the last report.' }),
  endsAt: Type.String({ format: 'date-time', description: 'In five minutes: it has not ended.' }),
  generatorURL: Type.Optional(
    Type.String({ description: 'Where its sender shows what has raised it, an http or https address.' }),
  ),
  status: Type.Object({
    state: OneOf(['active', 'suppressed'], '`suppressed`: silenced or inhibited.'),
    silencedBy: Type.Array(Type.String(), { description: 'Ids of silences.' }),
    inhibitedBy: Type.Array(Type.String(), { description: 'Fingerprints of alerts.' }),
    mutedBy: Type.Array(Type.String()),
  }),
})

const AlertmanagerAlerts = Type.Array(AlertmanagerAlert)

const AlertmanagerGroups = Type.Array(
  Type.Object({
    labels: LabelsSchema,
    receiver: Type.Object({ name: Name }),
    alerts: AlertmanagerAlerts,
  }),
)

const MATCHER_LIMIT = 32
const Filter = Type.Optional(
  Type.Array(Type.String({ maxLength: 2_048, examples: ['alertname="DiskFull"'] }), {
    maxItems: MATCHER_LIMIT,
    description: 'Matchers such as `alertname=~"Disk.*"`, which may be repeated; all of them must match.',
    examples: [['alertname="DiskFull"']],
  }),
)
const Flag = (description: string) => Type.Optional(Type.Boolean({ description }))

// Grafana passes on the parameters of its own pages, which an Alertmanager ignores.
const OtherQuery = { description: 'Other parameters have no effect.' }

const NoQuery = Type.Object({}, OtherQuery)

const AlertmanagerQuery = Type.Object(
  {
    active: Flag('Without alerts that are told, if `false`.'),
    silenced: Flag('Without silenced alerts, if `false`.'),
    inhibited: Flag('Without inhibited alerts, if `false`.'),
    unprocessed: Flag('Without effect: no alert is unprocessed.'),
    muted: Flag('Without effect: no alert is muted.'),
    filter: Filter,
    receiver: Type.Optional(
      Text({ maxLength: 1_024, description: 'A regular expression of a whole name.', examples: ['robot'] }),
    ),
  },
  OtherQuery,
)

const SilencesQuery = Type.Object({ filter: Filter }, OtherQuery)

const Matcher = Type.Object({
  name: Text({ minLength: 1, maxLength: 128, examples: ['alertname'] }),
  value: Text({ maxLength: 1_024, examples: ['DiskFull'] }),
  isRegex: Type.Boolean(),
  isEqual: Type.Optional(Type.Boolean({ default: true })),
})

const SILENCE = {
  matchers: Type.Array(Matcher, {
    minItems: 1,
    maxItems: MATCHER_LIMIT,
    description: 'All of them must match; one at least not an empty text.',
  }),
  startsAt: Type.String({ format: 'date-time', maxLength: 64 }),
  endsAt: Type.String({
    format: 'date-time',
    maxLength: 64,
    description: 'At most 30 days after `startsAt`.',
  }),
  createdBy: Type.String({
    maxLength: 1_024,
    description: 'Without effect in a request: the name of the caller.',
  }),
  comment: Text({ minLength: 1, maxLength: 1_024, description: 'The reason of the silence.' }),
}

const AlertmanagerSilence = Type.Object({
  id: Id,
  ...SILENCE,
  updatedAt: Timestamp,
  status: Type.Object({ state: OneOf(['active', 'pending', 'expired']) }),
})

const NewAlertmanagerSilence = Type.Object({
  id: Type.Optional(
    Type.String({ maxLength: 64, description: 'The id of a silence that ends when this one is created.' }),
  ),
  ...SILENCE,
})

/** Throws `validation_failed`. */
function filterOf(query: Static<typeof AlertmanagerQuery>): AlertmanagerFilter {
  const { active = true, silenced = true, inhibited = true, receiver } = query
  if (receiver !== undefined) requirePattern('receiver', receiver)
  const isReceiver = (name: string) =>
    receiver === undefined || matchesText({ name, value: receiver, isRegex: true, isEqual: true }, name)
  return { active, silenced, inhibited, matchers: parseMatchers(query.filter), isReceiver }
}

/** Throws `validation_failed`. */
function parseMatchers(filter: readonly string[] = []): LabelMatcher[] {
  return filter.map((text) => {
    const matcher = parseMatcher(text)
    if (typeof matcher === 'string') throw invalidField('filter', 'invalid', { reason: matcher })
    return matcher
  })
}

/** Throws `forbidden_variable` and `validation_failed`. */
function newSilenceOf(body: Static<typeof NewAlertmanagerSilence>): NewSilence & { id?: string } {
  const { id, matchers, comment, startsAt, endsAt } = body
  requireAllowedText({ comment })
  const labelMatchers = matchers.map(({ isEqual = true, ...matcher }, n) => {
    const path = `matchers.${n}.value`
    requireAllowedText({ [path]: matcher.value })
    if (matcher.isRegex) requirePattern(path, matcher.value)
    return { ...matcher, isEqual }
  })
  if (labelMatchers.every((matcher) => matchesText(matcher, '')))
    throw invalidField('matchers', 'invalid', { reason: 'must have one that does not match an empty text' })
  const from = parseTime('startsAt', startsAt)
  return {
    matchers: {},
    labelMatchers,
    reason: comment,
    ...(from !== ZERO_TIME && { startsAt: from }),
    endsAt: parseTime('endsAt', endsAt),
    ...(id !== undefined && id !== '' && { id }),
  }
}

function requirePattern(path: string, pattern: string): void {
  const fault = patternFault(pattern)
  if (fault !== undefined)
    throw invalidField(path, 'invalid', { reason: `must be a regular expression: ${fault}` })
}
