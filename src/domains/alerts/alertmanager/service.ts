import { JsonText } from '../../../kernel/text.ts'
import type { Page, PagePosition, PageRequest } from '../../../kernel/page.ts'
import { DAY, MINUTE, toRfc3339 } from '../../../kernel/time.ts'
import type { ServiceDeps } from '../../../store/store.ts'
import { inhibitorIdOf, inhibitorOf, type AlertView } from '../model.ts'
import {
  fingerprintOf,
  labelsOf,
  matchesLabels,
  matchesText,
  valueOf,
  type LabelMatcher,
  type LabelValues,
} from '../labels.ts'
import { clip } from '../notifications/message.ts'
import { directTargets, type Routing } from '../notifications/routing.ts'
import {
  isMatched,
  MATCHED_FIELDS,
  stateOf,
  windowOf,
  type MatchedField,
  type Silence,
} from '../silences/model.ts'
import type { SilenceView } from '../silences/service.ts'
import { listActive, listSilences } from '../silences/store.ts'
import { findOpenAlarms, listAlerts } from '../store.ts'

/** Which alerts a client asks for. */
export interface AlertmanagerFilter {
  readonly active: boolean
  readonly silenced: boolean
  readonly inhibited: boolean
  readonly matchers: readonly LabelMatcher[]
  readonly isReceiver: (name: string) => boolean
}

/** What the interface of an Alertmanager needs of the rest of the platform. */
export interface AlertmanagerDeps extends Pick<ServiceDeps, 'store' | 'clock'> {
  readonly version: string
  readonly routing: Routing
  /** Finds the names of the users among these ids. */
  readonly userNames: (
    ids: readonly string[],
  ) => Promise<readonly { readonly id: string; readonly name: string }[]>
}

// An answer has no pages: what exceeds it is left out, the oldest first (docs/specification.md, HTTP API).
const LARGEST_ANSWER = 8 * 1_048_576
// What the answer needs around an item: at most the source of a group.
const ITEM_BYTES = 1_024
const PAGE = 500
const DESCRIPTION_CHARACTERS = 1_000
const ENDS_IN_MS = 5 * MINUTE
// The receiver of an alert that nobody is told of.
const NOBODY = 'nobody'
// An Alertmanager keeps ended silences for the same time.
const ENDED_FOR_MS = 5 * DAY

interface ShownAlert {
  readonly source: string
  readonly receivers: readonly string[]
  readonly json: string
}

/** Alerts and silences as an Alertmanager shows them (docs/specification.md, Prometheus and Alertmanager). */
export class Alertmanager {
  readonly #deps: AlertmanagerDeps
  readonly #startedAt: number

  constructor(deps: AlertmanagerDeps) {
    this.#deps = deps
    this.#startedAt = deps.clock.now()
  }

  status() {
    const { version, routing } = this.#deps
    const names = this.receivers().map(({ name }) => JSON.stringify(name))
    const [first] = routing.routes.at(-1)?.receivers ?? []
    const receiver = first === undefined ? names[0] : JSON.stringify(first)
    return {
      cluster: { status: 'disabled', peers: [] },
      versionInfo: { version, revision: '', branch: '', buildUser: '', buildDate: '', goVersion: '' },
      config: {
        original: [
          'route:',
          `  receiver: ${receiver}`,
          'receivers:',
          ...names.map((name) => `- name: ${name}`),
          '',
        ].join('\n'),
      },
      uptime: toRfc3339(this.#startedAt),
    }
  }

  /** The names of the receivers; at least one, because clients expect that. */
  receivers() {
    const { receivers } = this.#deps.routing
    return (receivers.length > 0 ? receivers : [NOBODY]).map((name) => ({ name }))
  }

  /** The alerts that have not recovered, newest first. */
  async alerts(filter: AlertmanagerFilter): Promise<JsonText> {
    return new JsonText(`[${(await this.#readShown(filter)).map(({ json }) => json).join(',')}]`)
  }

  /** The alerts that match, in groups by receiver and source, as in the messages of the platform. */
  async groups(filter: AlertmanagerFilter): Promise<JsonText> {
    const members = (await this.#readShown(filter)).flatMap(({ source, receivers, json }) =>
      receivers
        .filter(filter.isReceiver)
        .map((name) => ({ json, head: { labels: { source }, receiver: { name } } })),
    )
    const byHead = Map.groupBy(members, ({ head }) => JSON.stringify(head))
    const groups = [...byHead].map(
      ([head, alerts]) => `${head.slice(0, -1)},"alerts":[${alerts.map(({ json }) => json).join(',')}]}`,
    )
    return new JsonText(`[${groups.join(',')}]`)
  }

  /** The silences that have not ended or have ended recently; the newest of each state first. */
  async silences(filter: readonly LabelMatcher[]): Promise<JsonText> {
    const { clock, store } = this.#deps
    const now = clock.now()
    const shown: string[] = []
    let bytes = 0
    const isLate = ({ endsAt }: Silence) => endsAt <= now - ENDED_FOR_MS
    for (const state of ['active', 'pending', 'ended'] as const) {
      const read = (page: PageRequest) => listSilences(store.read, { [state]: now }, page)
      for await (const silences of pagesOf(read)) {
        const wanted = silences
          .filter((each) => !isLate(each) && isSilenceWanted(each, filter))
          .map((each) => ({ ...each, state: stateOf(each, now) }))
        for (const json of await this.#writeSilences(wanted)) {
          bytes += Buffer.byteLength(json) + ITEM_BYTES
          if (bytes > LARGEST_ANSWER) return new JsonText(`[${shown.join(',')}]`)
          shown.push(json)
        }
        // Silences on further pages have ended earlier, or are too many to be read by anybody.
        if (state === 'ended') break
      }
    }
    return new JsonText(`[${shown.join(',')}]`)
  }

  async silence(silence: SilenceView): Promise<JsonText> {
    const [json = 'null'] = await this.#writeSilences([silence])
    return new JsonText(json)
  }

  async #readShown(filter: AlertmanagerFilter): Promise<ShownAlert[]> {
    const { clock, store } = this.#deps
    const now = clock.now()
    const silences = (await listActive(store.read, now)).filter((each) => stateOf(each, now) === 'active')
    const shown: ShownAlert[] = []
    let bytes = 0
    for (const status of ['firing', 'acknowledged', 'frozen'] as const) {
      for await (const alerts of pagesOf((page) => listAlerts(store.read, { status }, page))) {
        const labelled = alerts
          .map((alert) => ({ alert, labels: labelsOf(alert) }))
          .filter(({ labels }) => matchesLabels(filter.matchers, labels))
        const inhibitors = await this.#inhibitorsOf(labelled.map(({ alert }) => alert))
        for (const { alert, labels } of labelled) {
          const silencedBy = silences.filter((each) => isMatched(each, alert)).map(({ id }) => id)
          const inhibitor = inhibitorOf(alert, inhibitors)
          const inhibitedBy = inhibitor ? [fingerprintOf(labelsOf(inhibitor))] : []
          const receivers = this.#receiversOf(alert)
          const suppressedBy = { silencedBy, inhibitedBy }
          if (!receivers.some(filter.isReceiver) || !isWanted(filter, suppressedBy)) continue
          const json = writeAlert(alert, labels, suppressedBy, receivers, now)
          bytes += (Buffer.byteLength(json) + ITEM_BYTES) * receivers.length
          if (bytes > LARGEST_ANSWER) return shown
          shown.push({ source: alert.source, receivers, json })
        }
      }
    }
    return shown
  }

  #inhibitorsOf(alerts: readonly AlertView[]): Promise<AlertView[]> {
    const ids = alerts.map(inhibitorIdOf).filter((id) => id !== undefined)
    return findOpenAlarms(this.#deps.store.read, ids)
  }

  #receiversOf(alert: AlertView): readonly string[] {
    const names = directTargets(alert, this.#deps.routing).map(({ receiver }) => receiver)
    return names.length > 0 ? names : [NOBODY]
  }

  async #writeSilences(silences: readonly SilenceView[]): Promise<string[]> {
    const ids = [...new Set(silences.map(({ createdBy }) => createdBy))]
    const names = new Map((await this.#deps.userNames(ids)).map(({ id, name }) => [id, name]))
    const now = this.#deps.clock.now()
    return silences.map((silence) => {
      const { id, state, reason, createdBy, createdAt } = silence
      const { startsAt, endsAt } = state === 'ended' ? silence : windowOf(silence, now)
      return JSON.stringify({
        id,
        matchers: matchersOf(silence),
        startsAt: toRfc3339(startsAt),
        endsAt: toRfc3339(endsAt),
        createdBy: names.get(createdBy) ?? createdBy,
        comment: reason,
        updatedAt: toRfc3339(state === 'ended' ? endsAt : createdAt),
        status: { state: state === 'ended' ? 'expired' : state },
      })
    })
  }
}

interface SuppressedBy {
  readonly silencedBy: readonly string[]
  readonly inhibitedBy: readonly string[]
}

function writeAlert(
  alert: AlertView,
  labels: LabelValues,
  { silencedBy, inhibitedBy }: SuppressedBy,
  receivers: readonly string[],
  now: number,
): string {
  const { title, body, runbookUrl, firstAt, lastAt, startsAt, generatorUrl } = alert
  const state = silencedBy.length + inhibitedBy.length > 0 ? 'suppressed' : 'active'
  return JSON.stringify({
    fingerprint: fingerprintOf(labels),
    labels,
    annotations: {
      summary: title,
      ...(body !== '' && { description: clip(body, DESCRIPTION_CHARACTERS) }),
      ...(runbookUrl !== null && { runbook_url: runbookUrl }),
    },
    receivers: receivers.map((name) => ({ name })),
    startsAt: toRfc3339(startsAt ?? firstAt),
    updatedAt: toRfc3339(lastAt),
    endsAt: toRfc3339(now + ENDS_IN_MS),
    ...(generatorUrl !== null && { generatorURL: generatorUrl }),
    status: { state, silencedBy, inhibitedBy, mutedBy: [] },
  })
}

function isWanted(
  { active, silenced, inhibited }: AlertmanagerFilter,
  { silencedBy, inhibitedBy }: SuppressedBy,
): boolean {
  const [isSilenced, isInhibited] = [silencedBy.length > 0, inhibitedBy.length > 0]
  if (!isSilenced && !isInhibited) return active
  return (silenced || !isSilenced) && (inhibited || !isInhibited)
}

/** A silence is wanted by what it says of the labels of a filter, as in an Alertmanager. */
function isSilenceWanted(silence: Silence, filter: readonly LabelMatcher[]): boolean {
  const patterns = Object.fromEntries(matchersOf(silence).map(({ name, value }) => [name, value]))
  return filter.every((matcher) => matchesText(matcher, valueOf(patterns, matcher.name)))
}

const LABEL_OF_FIELD: Readonly<Record<MatchedField, string>> = {
  source: 'source',
  alarmId: 'alarm_id',
  serverAddr: 'server_addr',
  title: 'alertname',
}

/** All matchers of a silence as those of labels: a prefix is a regular expression. */
function matchersOf({ matchers, labelMatchers }: Silence): LabelMatcher[] {
  const fields = MATCHED_FIELDS.flatMap((field) => {
    const pattern = matchers[field]
    if (pattern === undefined) return []
    const isRegex = pattern.endsWith('*')
    const value = isRegex ? `${escapePattern(pattern.slice(0, -1))}.*` : pattern
    return [{ name: LABEL_OF_FIELD[field], value, isRegex, isEqual: true }]
  })
  return [...fields, ...(labelMatchers ?? [])]
}

const escapePattern = (text: string) => text.replaceAll(/[\\.+*?()|[\]{}^$]/g, '\\$&')

async function* pagesOf<T>(read: (page: PageRequest) => Promise<Page<T>>): AsyncGenerator<readonly T[]> {
  let after: PagePosition | null = null
  do {
    const { items, next }: Page<T> = await read({ limit: PAGE, after })
    yield items
    after = next
  } while (after !== null)
}
