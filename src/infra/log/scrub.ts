import { REDACTED } from '../../kernel/secret.ts'

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

/** Whether a value under this name is a secret, whatever the case and the separators of the name. */
export function isSecretName(name: string): boolean {
  const letters = name.toLowerCase().replace(/[^a-z0-9]+/g, '')
  if (SECRET_ENDING.test(letters)) return !PUBLIC_HASH.test(letters)
  return SECRET_ANYWHERE.test(letters) && !HARMLESS_LAST_WORDS.has(lastWord(name))
}

function lastWord(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').match(/[a-z0-9]+/gi)
  return words?.at(-1)?.toLowerCase() ?? ''
}

const MAX_TEXT = 8_192
// A secret that starts before the cut must be seen whole, or its pattern does not match.
const CUT_MARGIN = 1_024
const MAX_REMEMBERED = 1_000
const MAX_REMEMBERED_LENGTH = 200

// Nearly every text of a log line has none of these and is passed on after this one look.
const SUSPECT = /[^\w./-]|eyJ|LS0tLS1CRU|[Hh]ooks?\/|[Bb]earer|S[UAOCNX][A-Z2-7]{56}/
const rememberedClean = new Set<string>()

/**
 * The text without the secrets that have a known shape or a name in front of them, cut at 8 KiB,
 * with terminal sequences removed and other control characters (but tab and line ends) made visible.
 */
export function scrubText(text: string): string {
  if (text.length > MAX_TEXT) return scrubLong(text)
  if (!SUSPECT.test(text) || rememberedClean.has(text)) return text
  const scrubbed = hideSecrets(text)
  if (scrubbed === text) rememberClean(text)
  return scrubbed
}

function scrubLong(text: string): string {
  const window = hideSecrets(text.slice(0, MAX_TEXT + CUT_MARGIN))
  // The end of the window may hold half a secret; what was scrubbed before it made the window shorter.
  const kept = window.slice(0, Math.min(MAX_TEXT, Math.max(0, window.length - CUT_MARGIN)))
  return `${kept}… [${text.length} characters]`
}

// Routes, messages and user agents come again and again: without this a line takes half as long again. Texts with a
// secret are never remembered.
function rememberClean(text: string): void {
  if (text.length > MAX_REMEMBERED_LENGTH) return
  if (rememberedClean.size >= MAX_REMEMBERED) rememberedClean.clear()
  rememberedClean.add(text)
}

/** A pattern and its replacement, or a step that no single pattern can do. */
type Step = readonly [pattern: RegExp, replacement: string] | ((text: string) => string)

// Terminal sequences go first, because a coloured name would not be known. A secret without a name goes after secrets with
// one, which may reach beyond it (`Cookie: eyJ…; sid=…`). Escaping goes last, because it adds letters.
const STEPS: readonly Step[] = [
  [/(?![\t\n\r])\p{Cc}\[[\d;?]*[A-Za-z]/gu, ''],
  // Private keys, as text and in base64.
  [/-----BEGIN ([A-Z0-9 ]*PRIVATE KEY[A-Z ]*)-----[\s\S]*?(?:-----END \1-----|$)/g, REDACTED],
  [/LS0tLS1CRUdJTi[\w+/=-]*/g, REDACTED],
  // Paths of webhooks and bots.
  [
    /((?:\/|%2F)(?:hooks?|webhooks?|services\/T)(?:\/|%2F)?(?<=\/|%2F|\/T)(?!:id\b))[^\s"'<>?#]+/gi,
    `$1${REDACTED}`,
  ],
  [/(\/bot\d+:)[\w-]+/g, `$1${REDACTED}`],
  // Logins in addresses: `://user:password@host`, encoded, and without a scheme.
  [/(:\/\/)(?:[^\s/?#"'<>]*|[^\s/:@"'<>]+:[^\s"'<>@]*)@/g, `$1${REDACTED}@`],
  (text) => (ENCODED_AT.test(text) ? text.replace(ENCODED_LOGIN, `$1${REDACTED}`) : text),
  (text) => (text.includes('@') ? text.replace(BARE_LOGIN, `$1${REDACTED}@`) : text),
  // Password hashes.
  [/pbkdf2[\w-]*\$[^\s"',]+|\$(?:2[abxy]|argon2\w*|scrypt|[156y])\$[^\s"',]+/gi, REDACTED],
  [
    /\b((?:set-)?cookie|(?:proxy-)?authorization)(\s*[:=]\s*|\\*["']\s*,\s*\\*["'])(?![\s"'`[{\\])[^\r\n"']+/gi,
    `$1$2${REDACTED}`,
  ],
  hideNamedValues,
  hideSchemeValues,
  // JSON web tokens, and seeds of NATS keys.
  [/eyJ[\w+/=-]{8,}(?:\.[\w+/=-]*)*/g, REDACTED],
  [/\bS[UAOCNX][A-Z2-7]{56}\b/g, REDACTED],
  (text) => text.replace(CONTROL, escapeCharacter),
]

const ENCODED_AT = /%(?:25){0,3}40/
const ENCODED_LOGIN =
  /(%(?:25){0,3}3A%(?:25){0,3}2F%(?:25){0,3}2F)(?:(?!%(?:25){0,3}40)[^\s"'<>&]){0,512}(?=%(?:25){0,3}40)/gi
const BARE_LOGIN = /(?<![\w.+/-])([\w.+-]+:)[^\s:@/"']+@(?=[\w[])/g
// What a terminal or a log viewer acts upon: C0 and C1 controls, line separators, changes of writing direction.
const CONTROL = /(?![\t\n\r])[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu

function hideSecrets(text: string): string {
  return STEPS.reduce(
    (hidden, step) => (typeof step === 'function' ? step(hidden) : hidden.replace(...step)),
    text,
  )
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

// The marks that close a quoted name, in JSON, in JSON within JSON, in a URL, in HTML.
const CLOSING = String.raw`(?:\\*["'\]]|&quot;|&#3[49];|%(?:25){0,3}22)*`
const NAME_START = String.raw`(?:(?<![\w.-])(?!(?<=%)[\da-f]{2})|(?<=%(?:25){0,3}[\da-f]{2}))`
const NAME = String.raw`(?:(?:api|access|private|client|signing|encryption|webhook|robot|device|user|auth)\s)?\w[\w.-]*`
const SEPARATOR = String.raw`\s*(?:=>|[=:]+|%(?:25){0,3}3[AD])\s*`
const NAMED = new RegExp(`${NAME_START}(${NAME})${CLOSING}${SEPARATOR}`, 'gi')

const QUOTED = String.raw`(?<quote>\\*["'\u0060])[\s\S]*?(?:(?<!\\)\k<quote>|$)`
const HTML_QUOTED = String.raw`(?:&quot;|&#3[49];)[\s\S]*?(?:&quot;|&#3[49];|$)`
const BRACKETED = String.raw`\[[^\]]*\]?|\{[^}]*\}?`
// A comma, bracket or quote ends an unquoted value only when the next characters cannot belong to it.
const BARE = String.raw`(?:(?:bearer|basic|digest|dpop|token)(?:\s|%20|\+)+)?(?:[^\s&"'<>,;)\]}\\]|\\(?!["'])|["'](?=\w)|[,;)\]}](?!\s|$|[\w.-]+[=:]))+`
const VALUE = new RegExp(`${QUOTED}|${HTML_QUOTED}|${BRACKETED}|${BARE}`, 'iy')

// Every name of a secret contains one of these, and few texts do.
const SECRET_WORD =
  /pass|pwd|secret|cred|cookie|token|jwt|jwk|bearer|key|assertion|verifier|proof|auth|code|hash|pem|salt|seed|pin|otp|psk|hook|robot|sig|ticket/i

/**
 * Hides the value after the name of a secret: `token=…`, `"password":"…"`, also encoded for a URL or as JSON in JSON.
 * One name after the other, because the value of a harmless name may contain a secret: `Error: token=…`.
 */
function hideNamedValues(text: string): string {
  if (!SECRET_WORD.test(text)) return text
  let scrubbed = ''
  let copied = 0
  for (const { 0: head, 1: name = '', index } of text.matchAll(NAMED)) {
    if (index < copied || !(isSecretName(name) || isSecretParameter(name, index, text))) continue
    VALUE.lastIndex = index + head.length
    const value = VALUE.exec(text)
    if (!value || isOrdinaryWord(value[0]) || isPlace(text, index, VALUE.lastIndex)) continue
    const quote = value.groups?.['quote'] ?? ''
    scrubbed += `${text.slice(copied, value.index)}${quote}${REDACTED}${quote}`
    copied = VALUE.lastIndex
  }
  return `${scrubbed}${text.slice(copied)}`
}

const ABSOLUTE_PATH = /(?:^|[\s"'`(])\/(?:[\w.@+-]+\/)*$/
const LONGEST_PATH = 256
const SETTING_BEFORE = /^[\w.-]+:\s+[a-z][a-z_]*(?:\.[a-z\d_-]+)+:$/

/**
 * Whether the name says where something was found, as in `/etc/platform/jwt-secret: Permission denied` and in the errors of a
 * configuration, `environment AUTH_JWT_SECRET: auth.jwt_secret: expected …`.
 */
function isPlace(text: string, start: number, end: number): boolean {
  if (
    /^[\w.-]+:\s/.test(text.slice(start, end)) &&
    ABSOLUTE_PATH.test(text.slice(Math.max(0, start - LONGEST_PATH), start))
  )
    return true
  return text.startsWith(' expected ', end) && SETTING_BEFORE.test(text.slice(start, end))
}

// Too short to be a secret's name anywhere but in a URL or a form.
const QUERY_SECRETS = new Set(['code', 'key', 'sig', 'sign', 'signature', 'ticket', 'auth', 'pass'])
const AFTER_QUERY_MARK = /(?:[?&]|%(?:25){0,3}(?:3f|26))$/i

function isSecretParameter(name: string, offset: number, text: string): boolean {
  if (!QUERY_SECRETS.has(name.toLowerCase())) return false
  return AFTER_QUERY_MARK.test(text.slice(Math.max(0, offset - 12), offset)) || /\bgrant_type\b/.test(text)
}

const SCHEME =
  /\b(bearer|basic|dpop|apikey|auth (?:plain|login|xoauth2))((?:\s|%20|[+.:]|\\*["'])+)([^\s"'<>,;)\]}]+)/gi

/** Hides the value after the name of an authentication scheme: `Bearer …`. */
function hideSchemeValues(text: string): string {
  return text.replace(SCHEME, (match: string, scheme: string, gap: string, value: string) => {
    // "Basic authentication" is prose: base64 of a name and a password has more than small letters.
    const prose = isOrdinaryWord(value) || (scheme.toLowerCase() === 'basic' && /^[a-z]+\W*$/.test(value))
    return prose ? match : `${scheme}${gap}${REDACTED}`
  })
}

const ORDINARY_WORDS = new Set(
  (
    'true false null undefined none must is was has have should may can cannot too not no at the a an expected ' +
    'required missing invalid expired unknown wrong only does needs already set put use of for in on to with from or and ' +
    'token tokens auth authentication authorization scheme schemes realm header headers format credentials string'
  ).split(' '),
)

function isOrdinaryWord(value: string): boolean {
  return ORDINARY_WORDS.has(value.toLowerCase().replace(/\W+$/, ''))
}
