import { FIRING_SEVERITIES, type FiringSeverity } from '../kernel/alerts.ts'
import { Secret } from '../kernel/secret.ts'
import { isWebhookSecret } from '../kernel/standard-webhook.ts'
import { DAY, SECOND, END_OF_DAY, WEEKDAYS, type Weekday, type WeeklyHours } from '../kernel/time.ts'
import { secretHttpUrl } from './address-types.ts'
import { timeOfDay, timeZone } from './backup-types.ts'
import { ConfigError, describeValue, type Problem, didYouMean } from './config-error.ts'
import { readPrivateText } from './private-file.ts'
import { flagReader, readerOf, type TableReader, type ValueReader } from './table-reader.ts'
import { choice, duration, path, valueType } from './value-types.ts'

export const ROBOT_KINDS = ['feishu', 'dingtalk', 'wecom', 'slack', 'teams', 'telegram', 'generic'] as const

const RECEIVER_KINDS = [...ROBOT_KINDS, 'mail', 'webhook'] as const
type ReceiverKind = (typeof RECEIVER_KINDS)[number]

/** The receiver that `alerts.robot` configures. */
export const ROBOT_RECEIVER = 'robot'

/** A table `[receivers.<name>]`. Of `x` and `xFile` one is set, or neither where the kind does not need it. */
export interface ReceiverConfig {
  readonly name: string
  readonly kind: ReceiverKind
  /** For `mail` the address of the mail server. */
  readonly url: Secret | undefined
  readonly urlFile: string | undefined
  readonly secret: Secret | undefined
  readonly secretFile: string | undefined
  /** For `telegram`. */
  readonly chatId: string | undefined
  /** For `mail`. */
  readonly from: string | undefined
  readonly to: readonly string[] | undefined
  /** Where it is configured, in words. */
  readonly source: string
}

/** When a route notifies at once. */
export interface HoursConfig extends WeeklyHours {
  /** Whether CRITICAL waits for them, too. */
  readonly critical: boolean
}

const MATCHED_KEYS = ['source', 'alarm_id', 'server_addr', 'title'] as const
type MatchedKey = (typeof MATCHED_KEYS)[number]

/** A table `[[alerts.routes]]`. */
export interface RouteConfig {
  /** The configured name; without one the number of the route, counted from 1. */
  readonly name: string | number
  readonly match: Readonly<Partial<Record<MatchedKey, string>>>
  readonly minSeverity?: FiringSeverity
  readonly receivers: readonly string[]
  readonly repeatEveryMs?: number
  /** The earliest first. */
  readonly escalate: readonly { readonly afterMs: number; readonly receivers: readonly string[] }[]
  readonly hours?: HoursConfig
  readonly continue: boolean
  /** Where it is configured, in words. */
  readonly source: string
  /** The keys in which it names receivers. */
  readonly mentions: readonly Mention[]
}

interface Mention {
  readonly receiver: string
  readonly key: string
  readonly source: string
}

interface KindKeys {
  /** Each of them is required, by itself or with `_file`. */
  readonly needed: readonly string[]
  readonly optional?: readonly string[]
}

const SIGNING: KindKeys = { needed: ['url'], optional: ['secret'] }
const PLAIN: KindKeys = { needed: ['url'] }

const KEYS: Readonly<Record<ReceiverKind, KindKeys>> = {
  feishu: SIGNING,
  dingtalk: SIGNING,
  wecom: PLAIN,
  slack: PLAIN,
  teams: PLAIN,
  telegram: { needed: ['url', 'chat_id'] },
  generic: SIGNING,
  mail: { needed: ['smtp_url', 'from', 'to'] },
  webhook: { needed: ['url', 'secret'] },
}

/** The keys that a file may hold instead: `url_file` for `url`. */
const IN_FILES = ['url', 'smtp_url', 'secret']
const MAX_SECRET_BYTES = 8_192
const NAME = /^[a-z][a-z0-9_-]{0,31}$/
const EXPECTED_NAME =
  'a name of 1 to 32 small letters, digits, hyphens or underscores that begins with a letter'
const MAX_ROUTES = 100
const MAX_RECIPIENTS = 50
const MAX_STEPS = 10
const MAX_TEXT = 256

const textReader = (expected: string, isRight: (text: string) => boolean): ValueReader<string> => ({
  expected,
  read: (value) => (typeof value === 'string' && isRight(value) ? value : undefined),
})

const secretReader: ValueReader<Secret> = {
  expected: 'a secret of at least 1 byte',
  read: (value) => (typeof value === 'string' && value !== '' ? new Secret(value) : undefined),
}

const pathReader = readerOf(path)
const kindReader = readerOf(choice(RECEIVER_KINDS))

const ADDRESS = 'a mail address such as ops@example.org'
const isAddress = (text: string) => text.length <= MAX_TEXT && /^[^\s@<>,;]+@[^\s@<>,;]+$/.test(text)
const isSender = (text: string) => isAddress(/<([^<>]*)>$/.exec(text)?.[1] ?? text) && !/[\r\n]/.test(text)

const chatIdReader: ValueReader<string> = {
  expected: 'the number of a chat, such as -1001234567890, or @ and the name of a channel',
  read(value) {
    const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value
    return typeof text === 'string' && /^(?:-?\d{1,20}|@\w{1,64})$/.test(text) ? text : undefined
  },
}

export const chatId = valueType({
  name: 'chat',
  expected: chatIdReader.expected,
  toml: 'string or number',
  parse: (text) => chatIdReader.read(text),
})

/** Names of receivers, without repetition. */
export const receiverNames = valueType<readonly string[]>({
  name: 'list',
  expected: 'a list of names of receivers, without repetition',
  toml: 'list',
  parse: (text) => namesReader.read(text === '' ? [] : text.split(',').map((item) => item.trim())),
  format: (names) => names.join(','),
})

const namesReader: ValueReader<readonly string[]> = {
  expected: 'a list of names of receivers, without repetition, such as ["mail"]',
  read(value) {
    if (!Array.isArray(value) || value.length === 0 || new Set(value).size < value.length) return undefined
    return value.every((name): name is string => typeof name === 'string' && name !== '') ? value : undefined
  },
}

/** Reads the table `[receivers.<name>]`; undefined if it has a fault. */
export function parseReceiver(name: string, entry: TableReader): ReceiverConfig | undefined {
  if (name === ROBOT_RECEIVER) entry.reportExpected([], 'another name: robot is the receiver of alerts.robot')
  else if (!NAME.test(name)) entry.reportExpected([], EXPECTED_NAME)
  if (!entry.isTable) return undefined
  const kind = entry.readRequired('kind', kindReader)
  if (kind === undefined) return undefined
  checkKeys(entry, kind)
  const receiver = readMembers(entry, kind)
  return entry.isFaulty ? undefined : { name, kind, ...receiver, source: entry.place().source }
}

/** Requires the keys that the kind needs, and refuses those that it does not have. */
function checkKeys(entry: TableReader, kind: ReceiverKind): void {
  const { needed, optional = [] } = KEYS[kind]
  const allowed = [...needed, ...optional].flatMap(withFileKey)
  for (const key of entry.names.filter((name) => name !== 'kind' && !allowed.includes(name)))
    entry.reportExpected(
      [key],
      `a key that the kind ${kind} has${didYouMean(key, allowed)}: ${['kind', ...allowed].join(', ')}`,
    )
  for (const key of [...needed, ...optional]) {
    const present = withFileKey(key).filter((name) => entry.has(name))
    if (present.length === 0 && needed.includes(key))
      entry.reportExpected([], `the key ${withFileKey(key).join(' or ')}`)
    if (present.length > 1) entry.reportExpected([key], `not both ${present.join(' and ')}`)
  }
}

/** The key, and the one that names a file with the value. */
function withFileKey(key: string): string[] {
  return IN_FILES.includes(key) ? [key, `${key}_file`] : [key]
}

function readMembers(entry: TableReader, kind: ReceiverKind) {
  const urlKey = kind === 'mail' ? 'smtp_url' : 'url'
  const read = <T>(key: string, reader: ValueReader<T>) => entry.read(key, reader)
  const readSecret = (key: string, reader: ValueReader<Secret>) => {
    if (!entry.has(key)) return undefined
    const secret = reader.read(entry.value(key))
    // Unlike that of `entry.read`, this error does not contain the value.
    if (secret === undefined) entry.reportExpected([key], reader.expected)
    return secret
  }
  return {
    url: readSecret(urlKey, secretReaderOf(kind, 'url')),
    urlFile: read(`${urlKey}_file`, pathReader),
    secret: readSecret('secret', secretReaderOf(kind, 'secret')),
    secretFile: read('secret_file', pathReader),
    chatId: read('chat_id', chatIdReader),
    from: read('from', textReader(`${ADDRESS}, or a name and <address>`, isSender)),
    to: read('to', recipientsReader),
  }
}

const recipientsReader: ValueReader<readonly string[]> = {
  expected: `1 to ${MAX_RECIPIENTS} mail addresses, such as ["ops@example.org"]`,
  read: (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= MAX_RECIPIENTS &&
    value.every((address): address is string => typeof address === 'string' && isAddress(address))
      ? value
      : undefined,
}

const WEBHOOK_SECRET = 'whsec_ and 24 to 64 bytes in base64 (run: echo whsec_$(openssl rand -base64 32))'

/** Reads a member that is a secret, from the configuration or from the text of the file that it names. */
function secretReaderOf(kind: ReceiverKind, member: 'url' | 'secret'): ValueReader<Secret> {
  if (member === 'secret' && kind !== 'webhook') return secretReader
  const [expected, isRight] =
    member === 'secret'
      ? [WEBHOOK_SECRET, isWebhookSecret]
      : kind === 'mail'
        ? ['an smtp:// or smtps:// address', (text: string) => /^smtps?:\/\/[^\s]+$/.test(text)]
        : [secretHttpUrl.expected, (text: string) => secretHttpUrl.parse(text, '') !== undefined]
  const { read } = textReader(expected, isRight)
  return {
    expected,
    read: (value) => {
      const text = read(value)
      return text === undefined ? undefined : new Secret(text)
    },
  }
}

/** The address and the secret of a receiver. Throws a {@link ConfigError} that names its file, never a value. */
export function readReceiverSecrets(receiver: ReceiverConfig): { url: Secret; secret: Secret | undefined } {
  const { url, urlFile, secret, secretFile, kind } = receiver
  const fromFile = (member: 'url' | 'secret', path: string | undefined, key: string) => {
    if (path === undefined) return undefined
    const name = `receivers.${receiver.name}.${key}`
    const { read, expected } = secretReaderOf(kind, member)
    const value = read(readPrivateText(path, name, MAX_SECRET_BYTES))
    if (!value) throw new ConfigError([{ source: `file ${path}`, key: name, expected, got: 'another text' }])
    return value
  }
  const address = url ?? fromFile('url', urlFile, kind === 'mail' ? 'smtp_url_file' : 'url_file')
  if (!address) throw new TypeError(`The receiver ${receiver.name} has no address.`)
  return { url: address, secret: secret ?? fromFile('secret', secretFile, 'secret_file') }
}

/** The pauses of repetitions and of escalations. */
const pauseReader = readerOf(duration({ minimum: SECOND, maximum: 30 * DAY }))

/** A severity of an alert that fires; small letters are accepted. */
export const alertSeverity = {
  ...choice(FIRING_SEVERITIES),
  parse: (text: string) => FIRING_SEVERITIES.find((severity) => severity === text.toUpperCase()),
}
const severityReader = readerOf(alertSeverity)

/** Reads the tables `[[alerts.routes]]` of the table `[alerts]`, without those that have a fault. */
export function parseRoutes(alerts: TableReader): RouteConfig[] {
  const value = alerts.value('routes')
  if (!Array.isArray(value) || value.length > MAX_ROUTES) {
    alerts.reportExpected(['routes'], `up to ${MAX_ROUTES} tables [[alerts.routes]]`, value)
    return []
  }
  const names = new Set<string | number>()
  return value.flatMap((table: unknown, index) => {
    const number = index + 1
    const entry = alerts.inner(['routes', String(number)], table)
    const route = parseRoute(entry, number)
    if (route === undefined) return []
    if (names.has(route.name)) entry.reportExpected(['name'], 'a name that no other route has', route.name)
    names.add(route.name)
    return [route]
  })
}

function parseRoute(entry: TableReader, number: number): RouteConfig | undefined {
  if (!entry.isTable) return undefined
  entry.refuseOthers(
    'name',
    'match',
    'min_severity',
    'receivers',
    'repeat_every',
    'escalate',
    'hours',
    'continue',
  )
  const name = entry.read(
    'name',
    textReader(`${EXPECTED_NAME}, and is not default`, (text) => NAME.test(text) && text !== DEFAULT_ROUTE),
  )
  entry.requireKeys('receivers')
  const receivers = entry.read('receivers', namesReader) ?? []
  const escalate = readSteps(entry)
  const minSeverity = entry.read('min_severity', severityReader)
  const repeatEveryMs = entry.read('repeat_every', pauseReader)
  const hours = readHours(entry)
  const route = {
    name: name ?? number,
    match: readMatch(entry),
    ...(minSeverity !== undefined && { minSeverity }),
    receivers,
    ...(repeatEveryMs !== undefined && { repeatEveryMs }),
    escalate,
    ...(hours !== undefined && { hours }),
    continue: entry.read('continue', flagReader) ?? false,
    source: entry.place().source,
    mentions: [
      ...mentions(entry, 'receivers', receivers),
      ...escalate.flatMap((step) => mentions(entry, 'escalate', step.receivers)),
    ],
  }
  return entry.isFaulty ? undefined : route
}

/** The route after all others. */
const DEFAULT_ROUTE = 'default'

function mentions(entry: TableReader, key: string, names: readonly string[]): Mention[] {
  return names.map((receiver) => ({ receiver, ...entry.place(key) }))
}

function readMatch(entry: TableReader): RouteConfig['match'] {
  const table = entry.table('match')
  if (!table?.isTable) return {}
  table.refuseOthers(...MATCHED_KEYS)
  const pattern = textReader(
    `a text of 1 to ${MAX_TEXT} characters, or a prefix that ends in *`,
    (text) => text !== '' && text.length <= MAX_TEXT,
  )
  return Object.fromEntries(
    MATCHED_KEYS.flatMap((key) => {
      const value = table.read(key, pattern)
      return value === undefined ? [] : [[key, value]]
    }),
  )
}

function readSteps(entry: TableReader): RouteConfig['escalate'] {
  if (!entry.has('escalate')) return []
  const steps = entry.read('escalate', {
    expected: `1 to ${MAX_STEPS} steps such as [{ after = "15m", receivers = ["pager"] }]`,
    read: (value): readonly unknown[] | undefined =>
      Array.isArray(value) && value.length > 0 && value.length <= MAX_STEPS ? value : undefined,
  })
  const read = (steps ?? []).flatMap((value, index) => {
    const step = entry.inner(['escalate', String(index + 1)], value)
    if (!step.isTable) return []
    step.refuseOthers('after', 'receivers')
    step.requireKeys('after', 'receivers')
    const afterMs = step.read('after', pauseReader)
    const receivers = step.read('receivers', namesReader)
    return afterMs === undefined || receivers === undefined ? [] : [{ afterMs, receivers }]
  })
  return read.toSorted((one, other) => one.afterMs - other.afterMs)
}

const daysReader: ValueReader<readonly Weekday[]> = {
  expected: 'a list of days such as ["mon-fri", "sun"]',
  read(value) {
    if (!Array.isArray(value) || value.length === 0) return undefined
    const days = value.map((text) => (typeof text === 'string' ? daysIn(text) : undefined))
    if (!days.every((range) => range !== undefined)) return undefined
    const named = new Set(days.flat())
    return WEEKDAYS.filter((day) => named.has(day))
  },
}

/** The days of `mon` or `fri-mon`. */
function daysIn(text: string): Weekday[] | undefined {
  const ends = text
    .toLowerCase()
    .split('-')
    .map((day) => WEEKDAYS.findIndex((weekday) => weekday === day))
  const [first = 0, last = first] = ends
  if (ends.length > 2 || ends.includes(-1)) return undefined
  const twoWeeks = [...WEEKDAYS, ...WEEKDAYS]
  return twoWeeks.slice(first, (last < first ? last + WEEKDAYS.length : last) + 1)
}

const startReader = readerOf(timeOfDay)

/** Hours may end at the end of a day, but not begin there. */
const endReader: ValueReader<string> = {
  expected: `${timeOfDay.expected}, or ${END_OF_DAY}`,
  read: (value) => (value === END_OF_DAY ? END_OF_DAY : startReader.read(value)),
}

const zoneReader = readerOf(timeZone)

function readHours(entry: TableReader): HoursConfig | undefined {
  const table = entry.table('hours')
  if (!table?.isTable) return undefined
  table.refuseOthers('days', 'from', 'to', 'time_zone', 'critical')
  table.requireKeys('from', 'to', 'time_zone')
  const days = table.has('days') ? table.read('days', daysReader) : WEEKDAYS
  const from = table.read('from', startReader)
  const to = table.read('to', endReader)
  const zone = table.read('time_zone', zoneReader)
  if (from !== undefined && from === to)
    table.reportExpected(['to'], 'another time than from; leave hours out to tell at any time')
  const critical = table.read('critical', flagReader) ?? false
  return days === undefined || from === undefined || to === undefined || zone === undefined
    ? undefined
    : { days, from, to, timeZone: zone, critical }
}

/** Where a receiver is named that is not configured. */
export function unknownReceivers(
  mentioned: readonly Mention[],
  receivers: readonly Pick<ReceiverConfig, 'name'>[],
  hasRobot: boolean,
): Problem[] {
  const names = [...receivers.map(({ name }) => name), ...(hasRobot ? [ROBOT_RECEIVER] : [])]
  const expectedNames = names.length === 0 ? 'no [receivers.…] is configured' : `one of ${names.join(', ')}`
  return mentioned
    .filter(({ receiver }) => !names.includes(receiver))
    .map(({ receiver, key, source }) => {
      const expected = `names of receivers (${expectedNames})${didYouMean(receiver, names)}`
      return { source, key, expected, got: describeValue(receiver) }
    })
}
