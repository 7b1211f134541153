import { Type, type Static } from 'typebox'
import { requireAllowedText } from '../../../kernel/alerts.ts'
import { invalidField } from '../../../kernel/errors.ts'
import { parseTime } from '../../../wire/codec.ts'
import { Id, OneOf, Text, Timestamp } from '../../../wire/schemas.ts'
import { ZERO_TIME } from '../intake/parse.ts'
import { matchesText, parseMatcher, patternFault, type LabelMatcher } from '../labels.ts'
import type { NewSilence } from '../silences/model.ts'

// The interface has names in camelCase, and its answers may get more members: none of the schemas is closed.

const Name = Type.String({ description: 'Of a receiver.', examples: ['robot'] })
const LabelsSchema = Type.Record(Type.String(), Type.String(), { description: 'Texts by name.' })

export const AlertmanagerStatus = Type.Object({
  cluster: Type.Object({
    status: Type.String({ description: '`disabled`: the platform is no cluster of Alertmanagers.' }),
    peers: Type.Array(Type.Unknown()),
  }),
  versionInfo: Type.Record(Type.String(), Type.String(), { description: 'Those of the platform.' }),
  config: Type.Object({
    original: Type.String({ description: 'YAML: one route, and the names of the receivers.' }),
  }),
  uptime: Timestamp,
})

export const AlertmanagerReceivers = Type.Array(Type.Object({ name: Name }))

const AlertmanagerAlert = Type.Object({
  fingerprint: Type.String({ description: 'Of the labels.' }),
  labels: LabelsSchema,
  annotations: LabelsSchema,
  receivers: AlertmanagerReceivers,
  startsAt: Type.String({ format: 'date-time', description: 'Since when it fires, as its sender says.' }),
  updatedAt: Type.String({ format: 'date-time', description: 'Of the last report.' }),
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

export const AlertmanagerAlerts = Type.Array(AlertmanagerAlert)

export const AlertmanagerGroups = Type.Array(
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

export const NoQuery = Type.Object({}, OtherQuery)

export const AlertmanagerQuery = Type.Object(
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

export const SilencesQuery = Type.Object({ filter: Filter }, OtherQuery)

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

export const AlertmanagerSilence = Type.Object({
  id: Id,
  ...SILENCE,
  updatedAt: Timestamp,
  status: Type.Object({ state: OneOf(['active', 'pending', 'expired']) }),
})

export const AlertmanagerSilences = Type.Array(AlertmanagerSilence)

export const NewAlertmanagerSilence = Type.Object({
  id: Type.Optional(
    Type.String({ maxLength: 64, description: 'Of a silence that ends with the creation of this one.' }),
  ),
  ...SILENCE,
})

export const SilenceCreated = Type.Object({ silenceID: Id })

/** Which alerts a client asks for. */
export interface AlertmanagerFilter {
  readonly active: boolean
  readonly silenced: boolean
  readonly inhibited: boolean
  readonly matchers: readonly LabelMatcher[]
  readonly isReceiver: (name: string) => boolean
}

/** Throws `validation_failed`. */
export function fromAlertmanagerQuery(query: Static<typeof AlertmanagerQuery>): AlertmanagerFilter {
  const { active = true, silenced = true, inhibited = true, receiver } = query
  const fault = receiver === undefined ? undefined : patternFault(receiver)
  if (fault !== undefined)
    throw invalidField('receiver', 'invalid', { reason: `must be a regular expression: ${fault}` })
  const isReceiver = (name: string) =>
    receiver === undefined || matchesText({ name, value: receiver, isRegex: true, isEqual: true }, name)
  return { active, silenced, inhibited, matchers: fromFilter(query.filter), isReceiver }
}

/** Throws `validation_failed`. */
export function fromFilter(filter: readonly string[] = []): LabelMatcher[] {
  return filter.map((text) => {
    const matcher = parseMatcher(text)
    if (typeof matcher === 'string') throw invalidField('filter', 'invalid', { reason: matcher })
    return matcher
  })
}

/** Throws `forbidden_variable` and `validation_failed`. */
export function fromAlertmanagerSilence(
  body: Static<typeof NewAlertmanagerSilence>,
): NewSilence & { id?: string } {
  const { id, matchers, comment, startsAt, endsAt } = body
  requireAllowedText({ comment })
  const labelMatchers = matchers.map(({ isEqual = true, ...matcher }, n) => {
    requireAllowedText({ [`matchers.${n}.value`]: matcher.value })
    const fault = matcher.isRegex ? patternFault(matcher.value) : undefined
    if (fault !== undefined)
      throw invalidField(`matchers.${n}.value`, 'invalid', {
        reason: `must be a regular expression: ${fault}`,
      })
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
