import { EventEmitter } from 'node:events'
import { Secret } from '../../kernel/secret.ts'

/** What stands where a secret stood; the same word that a `Secret` prints. */
export const REDACTED = '**redacted**'
const UNREADABLE = '[unreadable]'

const MAX_TEXT = 8_192
// A secret that starts before the cut must be seen whole, or its pattern does not match.
const CUT_MARGIN = 1_024
const MAX_DEPTH = 8
const MAX_ENTRIES = 100
const MAX_NODES = 2_000
const MAX_CHARACTERS = 65_536
const MAX_REMEMBERED = 1_000

// --- Names ---------------------------------------------------------------------------------------------------

// Matched against a name in lower case without separators: `Set-Cookie`, `setCookie` and `set_cookie` are one.
const SECRET_ANYWHERE =
  /passw(?:or)?d|passphrase|passcode|pwd|secret|credential|authorization|cookie|token|jwt|bearer|apikey|privatekey|signingkey|accesskey|encryptionkey|assertion|verifier|proof|(?:auth|device|user|recovery)code/
const SECRET_ENDING =
  /(?:hash|pem|salt|jwk|nkeyseed|creds|keypair)$|^(?:pass|pin|otp|totp|psk|nkey)$|webhook$|(?:robot|hook)(?:url|uri|href|address|endpoint|link|path|key)$/
const PUBLIC_HASH = /(?:content|file|body|pre|commit|git|schema|config|archive|snapshot|sha\d+)hash$/
// The last word says what the value is: `token_type` and `password_changed_at` hold no secret.
const HARMLESS_LAST_WORDS = new Set(
  (
    'type types total count ttl expiry expires at age length size bytes limit min max seconds ms file name ' +
    'iterations algorithm alg version status state kind endpoint policy remaining'
  ).split(' '),
)
// Too short to be a secret's name anywhere but in a URL or a form.
const QUERY_SECRETS = new Set(['code', 'key', 'sig', 'sign', 'signature', 'ticket', 'auth', 'pass'])

const judgedNames = new Map<string, boolean>()

/** Whether a value under this name is a secret, whatever the case and the separators of the name. */
export function isSecretName(name: string): boolean {
  return judgedNames.get(name) ?? judgeName(name)
}

function judgeName(name: string): boolean {
  const secret = soundsSecret(name)
  // Names come from texts too, where clients invent them; a name may also be a secret itself.
  if (name.length <= 32 && judgedNames.size < MAX_REMEMBERED) judgedNames.set(name, secret)
  return secret
}

function soundsSecret(name: string): boolean {
  const letters = name.toLowerCase().replace(/[^a-z0-9]+/g, '')
  if (SECRET_ENDING.test(letters)) return !PUBLIC_HASH.test(letters)
  return SECRET_ANYWHERE.test(letters) && !HARMLESS_LAST_WORDS.has(lastWord(name))
}

function lastWord(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .match(/[a-z0-9]+/g)
  return words?.at(-1) ?? ''
}

// --- Texts ---------------------------------------------------------------------------------------------------

// Nearly every text of a log line has none of these and is passed on after this one look.
const SUSPECT = /[^\w./-]|eyJ|LS0tLS1CRU|[Hh]ooks?\/|[Bb]earer|S[UAOCNX][A-Z2-7]{56}/
const rememberedClean = new Set<string>()

/**
 * The text without the secrets that can be told by their shape or by the name in front of them, cut at 8 KiB,
 * with terminal sequences removed and other control characters (but tab and line ends) made visible.
 */
export function scrubText(text: string): string {
  if (text.length > MAX_TEXT) return scrubLong(text)
  if (!SUSPECT.test(text) || rememberedClean.has(text)) return text
  const scrubbed = runScrubbers(text)
  if (scrubbed === text) rememberClean(text)
  return scrubbed
}

function scrubLong(text: string): string {
  const window = runScrubbers(text.slice(0, MAX_TEXT + CUT_MARGIN))
  // The end of the window may hold half a secret; what was scrubbed before it made the window shorter.
  const kept = window.slice(0, Math.min(MAX_TEXT, Math.max(0, window.length - CUT_MARGIN)))
  return `${kept}… [${text.length} characters]`
}

// Only texts without a secret are remembered: routes, messages and user agents come again and again.
function rememberClean(text: string): void {
  if (text.length > 200) return
  if (rememberedClean.size >= MAX_REMEMBERED) rememberedClean.clear()
  rememberedClean.add(text)
}

const TERMINAL_SEQUENCE = /(?![\t\n\r])\p{Cc}\[[\d;?]*[A-Za-z]/gu
const PRIVATE_KEY_BLOCK = /-----BEGIN ([A-Z0-9 ]*PRIVATE KEY[A-Z ]*)-----[\s\S]*?(?:-----END \1-----|$)/g
const PRIVATE_KEY_BASE64 = /LS0tLS1CRUdJTi[\w+/=-]*/g
const JSON_WEB_TOKEN = /eyJ[\w+/=-]{8,}(?:\.[\w+/=-]*)*/g
const PASSWORD_HASH = /pbkdf2[\w-]*\$[^\s"',]+|\$(?:2[abxy]|argon2\w*|scrypt|[156y])\$[^\s"',]+/gi
const NATS_SEED = /\bS[UAOCNX][A-Z2-7]{56}\b/
const NATS_SEEDS = new RegExp(NATS_SEED, 'g')
const HOOK_PATH = /((?:\/|%2F)(?:hooks?|webhooks?|services\/T)(?:\/|%2F)?(?<=\/|%2F|\/T))[^\s"'<>?#]+/gi
const BOT_PATH = /(\/bot\d+:)[\w-]+/g
const URL_USER = /(:\/\/)(?:[^\s/?#"'<>]*|[^\s/:@"'<>]+:[^\s"'<>@]*)@/g
const ENCODED_URL_USER =
  /(%(?:25){0,3}3A%(?:25){0,3}2F%(?:25){0,3}2F)(?:(?!%(?:25){0,3}40)[^\s"'<>&])*(?=%(?:25){0,3}40)/gi
const BARE_USER = /(?<![\w.+/-])([\w.+-]+:)[^\s:@/"']+@(?=[\w[])/g
const SCHEME =
  /\b(bearer|basic|dpop|apikey|auth (?:plain|login|xoauth2))((?:\s|%20|[+.:]|\\*["'])+)([^\s"'<>,;)\]}]+)/i
const SCHEMES = new RegExp(SCHEME, 'gi')
const HEADER_LINE =
  /\b((?:set-)?cookie|(?:proxy-)?authorization)(\s*[:=]\s*|\\*["']\s*,\s*\\*["'])(?![\s"'`[{\\*])[^\r\n"']+/gi
const BEYOND_PRINTABLE = /[^\t\n\r -~]/
// What a terminal or a log viewer acts upon: C0 and C1 controls, line separators, changes of writing direction.
const CONTROL = /(?![\t\n\r])[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu

// One or more of the marks that may close a quoted name, in JSON, in JSON within JSON, in a URL, in HTML.
const CLOSING = String.raw`(?:\\*["'\]]|&quot;|&#3[49];|%(?:25){0,3}22)*`
const NAME_START = String.raw`(?:(?<![\w.-])(?!(?<=%)[\da-f]{2})|(?<=%(?:25){0,3}[\da-f]{2}))`
const NAME = String.raw`(?:(?:api|access|private|client|signing|encryption|webhook|robot|device|user|auth)\s)?\w[\w.-]*`
const SEPARATOR = String.raw`\s*(?:=>|[=:]+|%(?:25){0,3}3[AD])\s*`
const QUOTED = String.raw`(?<slashes>\\*)(?<quote>["'\u0060])[\s\S]*?(?:(?<!\\)\k<slashes>\k<quote>|$)`
const HTML_QUOTED = String.raw`(?:&quot;|&#3[49];)[\s\S]*?(?:&quot;|&#3[49];|$)`
const BRACKETED = String.raw`\[[^\]]*\]?|\{[^}]*\}?`
// A comma, bracket or quote ends a bare value only where what follows shows that it does not belong to it.
const BARE = String.raw`(?:(?:bearer|basic|digest|dpop|token)(?:\s|%20|\+)+)?(?:[^\s&"'<>,;)\]}\\]|\\(?!["'])|["'](?=\w)|[,;)\]}](?!\s|$|[\w.-]+[=:]))+`
const NAMED = new RegExp(`${NAME_START}(${NAME})${CLOSING}${SEPARATOR}`, 'gi')
const VALUE = new RegExp(`${QUOTED}|${HTML_QUOTED}|${BRACKETED}|${BARE}`, 'iy')
// What every secret name has in it, and few texts have.
const SECRET_WORD =
  /pass|pwd|secret|cred|cookie|token|jwt|jwk|bearer|key|assertion|verifier|proof|auth|code|hash|pem|salt|seed|pin|otp|psk|hook|robot|sig|ticket/i
const AFTER_QUERY_MARK = /(?:[?&]|%(?:25){0,3}(?:3f|26))$/i

const ORDINARY_WORDS = new Set(
  (
    'true false null undefined none must is was has have should may can cannot too not no at the a an expected ' +
    'required missing invalid expired unknown wrong only does needs already of for in on to with from or and ' +
    'token tokens auth authentication authorization scheme schemes realm header headers format credentials string'
  ).split(' '),
)

// Each is run only on a text that its cheap hint matches. Terminal sequences go first, because a coloured name would
// not be known; escaping goes last, because it adds letters.
const SCRUBBERS: readonly { readonly hint: RegExp; scrub(text: string): string }[] = [
  { hint: BEYOND_PRINTABLE, scrub: (text) => text.replace(TERMINAL_SEQUENCE, '') },
  { hint: /-----BEGIN/, scrub: (text) => text.replace(PRIVATE_KEY_BLOCK, REDACTED) },
  { hint: /LS0tLS1CRU/, scrub: (text) => text.replace(PRIVATE_KEY_BASE64, REDACTED) },
  { hint: /hook|services/i, scrub: (text) => text.replace(HOOK_PATH, `$1${REDACTED}`) },
  { hint: /\/bot\d/, scrub: (text) => text.replace(BOT_PATH, `$1${REDACTED}`) },
  { hint: /@/, scrub: (text) => text.replace(URL_USER, `$1${REDACTED}@`) },
  { hint: /%(?:25){0,3}40/, scrub: (text) => text.replace(ENCODED_URL_USER, `$1${REDACTED}`) },
  { hint: /@/, scrub: (text) => text.replace(BARE_USER, `$1${REDACTED}@`) },
  { hint: /\$/, scrub: (text) => text.replace(PASSWORD_HASH, REDACTED) },
  { hint: /cookie|authorization/i, scrub: (text) => text.replace(HEADER_LINE, `$1$2${REDACTED}`) },
  { hint: SECRET_WORD, scrub: (text) => hideNamedValues(text) },
  { hint: SCHEME, scrub: (text) => text.replace(SCHEMES, hideSchemeValue) },
  { hint: /eyJ/, scrub: (text) => text.replace(JSON_WEB_TOKEN, REDACTED) },
  { hint: NATS_SEED, scrub: (text) => text.replace(NATS_SEEDS, REDACTED) },
  { hint: BEYOND_PRINTABLE, scrub: (text) => text.replace(CONTROL, escapeCharacter) },
]

function runScrubbers(text: string): string {
  return SCRUBBERS.reduce(
    (scrubbed, { hint, scrub }) => (hint.test(scrubbed) ? scrub(scrubbed) : scrubbed),
    text,
  )
}

// Name by name, because what looks like the value of a harmless name may hold a secret one: `Error: token=…`.
function hideNamedValues(text: string): string {
  let shown = ''
  let copied = 0
  for (const { 0: head, 1: name = '', index } of text.matchAll(NAMED)) {
    if (index < copied || !(isSecretName(name) || isSecretParameter(name, index, text))) continue
    VALUE.lastIndex = index + head.length
    const value = VALUE.exec(text)
    if (!value || isOrdinaryWord(value[0])) continue
    const quote = `${value.groups?.['slashes'] ?? ''}${value.groups?.['quote'] ?? ''}`
    shown += `${text.slice(copied, value.index)}${quote}${REDACTED}${quote}`
    copied = VALUE.lastIndex
  }
  return `${shown}${text.slice(copied)}`
}

function isSecretParameter(name: string, offset: number, text: string): boolean {
  if (!QUERY_SECRETS.has(name.toLowerCase())) return false
  return AFTER_QUERY_MARK.test(text.slice(Math.max(0, offset - 12), offset)) || /\bgrant_type\b/.test(text)
}

function hideSchemeValue(match: string, scheme: string, gap: string, value: string): string {
  // "Basic authentication" is prose: base64 of a name and a password has more than small letters.
  const prose = isOrdinaryWord(value) || (scheme.toLowerCase() === 'basic' && /^[a-z]+\W*$/.test(value))
  return prose ? match : `${scheme}${gap}${REDACTED}`
}

function isOrdinaryWord(value: string): boolean {
  return ORDINARY_WORDS.has(value.toLowerCase().replace(/\W+$/, ''))
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

// --- Values --------------------------------------------------------------------------------------------------

// What one line may still print: the size of a line never depends on what is logged.
interface Walk {
  nodesLeft: number
  charactersLeft: number
  readonly ancestors: object[]
}

/** Says whether a value is a secret because of what stands beside it or above it. */
type ContextRule = (holder: object, parentName: string, value: unknown) => boolean

interface KeyVerdict {
  readonly shownName: string
  readonly secret: boolean
  readonly inContext: ContextRule | undefined
}

const underRobot: ContextRule = (_holder, parentName) => /robot|webhook/i.test(parentName)
const inTokenRequest: ContextRule = (holder) =>
  ['grant_type', 'redirect_uri', 'code_verifier', 'client_id'].some((name) => name in holder)
const inJsonWebKey: ContextRule = (holder) => 'kty' in holder
const besideSecretName: ContextRule = (holder) =>
  ['name', 'key', 'header', 'field'].some((name) => {
    const told: unknown = Reflect.get(holder, name)
    return typeof told === 'string' && isSecretName(told)
  })

const CONTEXT_RULES = new Map<string, ContextRule>([
  ['url', underRobot],
  ['uri', underRobot],
  ['href', underRobot],
  ['key', (_holder, parentName) => /robot|webhook|jwt|signing|private|encryption|tls/i.test(parentName)],
  ['code', inTokenRequest],
  ['value', besideSecretName],
  ['auth', (_holder, _parentName, value) => typeof value === 'string' && value.includes(':')],
  ...['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'].map((name): [string, ContextRule] => [name, inJsonWebKey]),
])

const verdicts = new Map<string, KeyVerdict>()

function judgeKey(key: string): KeyVerdict {
  // Assigning to `__proto__` would lose the value and change the object.
  const shownName = key === '__proto__' ? '(__proto__)' : scrubText(key.slice(0, 128))
  const verdict = {
    shownName,
    secret: isSecretName(key),
    inContext: CONTEXT_RULES.get(key.toLowerCase()),
  }
  // A key that holds a secret itself must not stay in memory, nor may keys that clients invent fill it.
  if (shownName === key && verdicts.size < MAX_REMEMBERED) verdicts.set(key, verdict)
  return verdict
}

/**
 * A copy of any value that is safe to print: plain JSON data, secrets replaced by their names and shapes, texts scrubbed,
 * depth, breadth and size bounded, cycles cut. Never throws and never changes the value.
 */
export function redactValue(value: unknown): unknown {
  return visit(value, '', newWalk())
}

/** As {@link redactValue}, for the fields of a log line. */
export function redactFields(fields: object): Record<string, unknown> {
  const walk = newWalk()
  try {
    if (fields instanceof Error) return { error: visit(fields, '', walk) }
    if (!isPlain(fields)) return { value: visit(fields, '', walk) }
    walk.ancestors.push(fields)
    return visitEntries(fields, Object.keys(fields), '', walk)
  } catch {
    return { value: UNREADABLE }
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function newWalk(): Walk {
  return { nodesLeft: MAX_NODES, charactersLeft: MAX_CHARACTERS, ancestors: [] }
}

function visit(value: unknown, name: string, walk: Walk): unknown {
  switch (typeof value) {
    case 'string':
      return visitText(value, walk)
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'bigint':
      return visitText(String(value), walk)
    case 'symbol':
      return visitText(value.toString(), walk)
    case 'function':
      return '[function]'
    case 'object':
      return value === null ? null : visitObject(value, name, walk)
    default:
      return value
  }
}

function visitText(text: string, walk: Walk): string {
  const scrubbed = scrubText(text)
  walk.charactersLeft -= scrubbed.length
  return walk.charactersLeft < 0 ? '[too much]' : scrubbed
}

function visitObject(value: object, name: string, walk: Walk): unknown {
  if (walk.ancestors.includes(value)) return '[circular]'
  if (walk.ancestors.length >= MAX_DEPTH) return '[too deep]'
  if (--walk.nodesLeft < 0) return '[too much]'
  walk.ancestors.push(value)
  try {
    const form = FORMS.find(({ is }) => is(value))
    return form ? form.show(value, name, walk) : visitProperties(value, name, walk)
  } catch {
    // A proxy, a getter or a toJSON that throws must not cost the line.
    return UNREADABLE
  } finally {
    walk.ancestors.pop()
  }
}

interface Form<T extends object> {
  is(value: object): value is T
  show(value: T, name: string, walk: Walk): unknown
}

// Keeps `is` and `show` of one form agreed on the type, which a plain list of forms would lose.
function form<T extends object>(
  is: (value: object) => value is T,
  show: Form<T>['show'],
): { is(value: object): boolean; show(value: object, name: string, walk: Walk): unknown } {
  return { is, show: (value, name, walk) => (is(value) ? show(value, name, walk) : undefined) }
}

type Entries = Iterable<readonly [unknown, unknown]>
type Boxed = { valueOf(): unknown }

const FORMS = [
  form(
    (value): value is Secret<unknown> => value instanceof Secret,
    () => REDACTED,
  ),
  form(
    (value): value is unknown[] => Array.isArray(value),
    (value, name, walk) => visitList(value, name, walk),
  ),
  form(
    (value): value is Error => Error.isError(value) || value instanceof Error,
    (value, name, walk) => visitError(value, name, walk),
  ),
  form(
    (value): value is ArrayBufferView | ArrayBufferLike =>
      ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof SharedArrayBuffer,
    (value) => `[${value.byteLength} bytes]`,
  ),
  form(isEntries, (value, name, walk) => visitPairs(value, name, walk)),
  form(
    (value): value is Set<unknown> => value instanceof Set,
    (value, name, walk) => visitList([...value.values().take(MAX_ENTRIES + 1)], name, walk),
  ),
  // Sockets, requests and servers are graphs of the whole program.
  form(
    (value): value is EventEmitter => value instanceof EventEmitter,
    (value) => classLabel(value),
  ),
  form(
    (value): value is Boxed => value instanceof String || value instanceof Number || value instanceof RegExp,
    (value, _name, walk) => visitText(String(value), walk),
  ),
  form(
    (value): value is { toJSON(): unknown } => 'toJSON' in value && typeof value.toJSON === 'function',
    (value, name, walk) => visit(value.toJSON(), name, walk),
  ),
]

function isEntries(value: object): value is Entries {
  return (
    value instanceof Map ||
    value instanceof Headers ||
    value instanceof URLSearchParams ||
    value instanceof FormData
  )
}

function classLabel(value: object): string {
  return `[${scrubText(String(value.constructor?.name ?? 'object').slice(0, 64))}]`
}

function visitProperties(value: object, name: string, walk: Walk): unknown {
  const keys = Object.keys(value)
  // A key object or a promise shows nothing of its own; its class at least says what it is.
  if (keys.length === 0 && !isPlain(value)) return classLabel(value)
  return visitEntries(value, keys, name, walk)
}

function visitEntries(
  holder: object,
  keys: readonly string[],
  parentName: string,
  walk: Walk,
): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  const count = Math.min(keys.length, MAX_ENTRIES)
  for (let index = 0; index < count; index += 1) {
    const key = keys[index] as string
    const verdict = verdicts.get(key) ?? judgeKey(key)
    shown[verdict.shownName] = visitEntry(holder, key, verdict, parentName, walk)
  }
  if (keys.length > count) shown['…'] = `${keys.length - count} more`
  return shown
}

function visitEntry(
  holder: object,
  key: string,
  verdict: KeyVerdict,
  parentName: string,
  walk: Walk,
): unknown {
  try {
    const value: unknown = Reflect.get(holder, key)
    const secret = verdict.secret || verdict.inContext?.(holder, parentName, value) === true
    return secret ? hide(value) : visit(value, verdict.shownName, walk)
  } catch {
    return UNREADABLE
  }
}

// Whether there is a secret at all may be told, and helps.
function hide(value: unknown): unknown {
  return value === undefined || value === null || typeof value === 'boolean' ? value : REDACTED
}

function visitPairs(pairs: Entries, name: string, walk: Walk): Record<string, unknown> {
  // Without a prototype, so that `__proto__` is a key like any other.
  const holder = Object.create(null) as Record<string, unknown>
  let count = 0
  for (const [key, value] of pairs) {
    holder[typeof key === 'object' && key !== null ? classLabel(key) : String(key)] = value
    if (++count > MAX_ENTRIES) break
  }
  return visitEntries(holder, Object.keys(holder), name, walk)
}

function visitList(list: readonly unknown[], name: string, walk: Walk): unknown[] {
  const shown = list.slice(0, MAX_ENTRIES).map((value, index) => {
    // Raw headers and entries are lists of a name followed by its value.
    const before = index % 2 === 1 && list.length % 2 === 0 ? list[index - 1] : undefined
    return typeof before === 'string' && isSecretName(before) ? hide(value) : visit(value, name, walk)
  })
  return list.length > shown.length ? [...shown, `${list.length - shown.length} more`] : shown
}

const ERROR_FIELDS = ['cause', 'errors', 'error', 'suppressed']

function visitError(error: Error, name: string, walk: Walk): Record<string, unknown> {
  const hidden = ERROR_FIELDS.filter((field) => Object.hasOwn(error, field))
  const own = Object.keys(error).filter((key) => !['name', 'message', 'stack', ...hidden].includes(key))
  const fields = visitEntries(error, [...own, ...hidden], name, walk)
  return {
    type: visit(error.name, name, walk),
    message: visit(error.message, name, walk),
    ...fields,
    stack: visit(error.stack, name, walk),
  }
}
