import { REDACTED } from '../../kernel/secret.ts'
import { hideNamedValues, hideSchemeValues } from './named-values.ts'

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
