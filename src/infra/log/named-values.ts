import { REDACTED } from '../../kernel/secret.ts'
import { isSecretName } from './secret-names.ts'

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
export function hideNamedValues(text: string): string {
  if (!SECRET_WORD.test(text)) return text
  let shown = ''
  let copied = 0
  for (const { 0: head, 1: name = '', index } of text.matchAll(NAMED)) {
    if (index < copied || !(isSecretName(name) || isSecretParameter(name, index, text))) continue
    VALUE.lastIndex = index + head.length
    const value = VALUE.exec(text)
    if (!value || isOrdinaryWord(value[0])) continue
    const quote = value.groups?.['quote'] ?? ''
    shown += `${text.slice(copied, value.index)}${quote}${REDACTED}${quote}`
    copied = VALUE.lastIndex
  }
  return `${shown}${text.slice(copied)}`
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
export function hideSchemeValues(text: string): string {
  return text.replace(SCHEME, (match: string, scheme: string, gap: string, value: string) => {
    // "Basic authentication" is prose: base64 of a name and a password has more than small letters.
    const prose = isOrdinaryWord(value) || (scheme.toLowerCase() === 'basic' && /^[a-z]+\W*$/.test(value))
    return prose ? match : `${scheme}${gap}${REDACTED}`
  })
}

const ORDINARY_WORDS = new Set(
  (
    'true false null undefined none must is was has have should may can cannot too not no at the a an expected ' +
    'required missing invalid expired unknown wrong only does needs already of for in on to with from or and ' +
    'token tokens auth authentication authorization scheme schemes realm header headers format credentials string'
  ).split(' '),
)

function isOrdinaryWord(value: string): boolean {
  return ORDINARY_WORDS.has(value.toLowerCase().replace(/\W+$/, ''))
}
