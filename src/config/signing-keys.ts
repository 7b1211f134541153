import { Secret, type RotatedKeys } from '../kernel/secret.ts'
import { valueType } from './value-types.ts'

const SIGNING_KEY_MINIMUM_BYTES = 32 // RFC 7518, 3.2: a key for HS256 is at least as long as its hash

export const signingKey = valueType({
  name: 'secret',
  expected: `a secret of at least ${SIGNING_KEY_MINIMUM_BYTES} bytes that is no placeholder (run: openssl rand -base64 48)`,
  parse: (text) =>
    Buffer.byteLength(text) < SIGNING_KEY_MINIMUM_BYTES || isPlaceholder(text) ? undefined : new Secret(text),
})

// A token without a valid signature is compared with every key.
const MOST_KEYS = 8

/**
 * One key, or an array of keys while they are rotated. In the environment the array is JSON: a key may contain commas.
 */
export const signingKeys = valueType<RotatedKeys>({
  name: 'secret or list of secrets',
  expected: `${signingKey.expected}, or an array of 1 to ${MOST_KEYS} different ones`,
  toml: 'string or array',
  parse(text) {
    const texts = textsIn(text)
    const [current, ...former] = texts.map((key) => signingKey.parse(key, ''))
    if (!current || !former.every((key) => key !== undefined)) return undefined
    return texts.length <= MOST_KEYS && new Set(texts).size === texts.length
      ? [current, ...former]
      : undefined
  },
  faultyItem(text) {
    const index = textsIn(text).findIndex((key) => !signingKey.parse(key, ''))
    return index < 0 || !isArray(text) ? undefined : { index, expected: signingKey.expected }
  },
  format: (keys) => (keys.length === 1 ? String(keys[0]) : `[${keys.join(', ')}]`),
})

function isArray(text: string): boolean {
  return text.startsWith('[') && text.endsWith(']')
}

/** The keys of a text; none in an array that is not valid JSON. Items that are not text become an empty key. */
function textsIn(text: string): string[] {
  if (!isArray(text)) return [text]
  try {
    const items = JSON.parse(text) as unknown[]
    return items.map((item) => (typeof item === 'string' ? item : ''))
  } catch {
    return []
  }
}

// Words that documentation and templates put where a key belongs, in any order and with any separators.
const TEMPLATE_WORDS = `
  access admin an app application at auth authentication backend be bit bits bytes change changed changeit changeme
  changethis char characters chars default demo dev development do dummy env example fake for foo bar go here hmac
  hs in insecure insert is it jwt key keys length least local localhost long longer make me min minimum more must my
  node not of or our password phrase placeholder platform please private prod production random replace replaced
  sample safe secret secrets secure security server session sha should sign signing some string strong super test
  testing that the this to token tokens top use used value very we with you your
`
// Longest first, so that no word is matched as the beginning of a longer one.
const TEMPLATE_WORD = new RegExp(
  TEMPLATE_WORDS.trim()
    .split(/\s+/)
    .sort((a, b) => b.length - a.length)
    .join('|'),
  'g',
)
// The words that tell the reader of a template to put another text there.
const PLACEHOLDER =
  /change|default|do.?not.?use|dummy|example|insecure|insert|place.?holder|replace|sample|your/
// The key of the example that https://jwt.io opens with.
const PUBLISHED = ['a-string-secret-at-least-256-bits-long']
const OTHER_LETTERS = 4 // an article, or a letter or two, between template words
const FEWEST_CHARACTERS = 6 // 16 random bytes in hexadecimal have about 14 different ones
const LONGEST_PERIOD = 32
const SEQUENCE_SHARE = 0.7

/** Whether a key is a default that was never replaced: the text of a template, such as `change-me-…`, or of a known example. */
export function isPlaceholder(key: string): boolean {
  return PUBLISHED.includes(key) || (PLACEHOLDER.test(key.toLowerCase()) && isTemplate(key))
}

/**
 * Whether an attacker would try a key early: few different characters, a repetition, a sequence of the alphabet or of
 * digits, or words that documentation uses for keys. Random keys never match.
 */
export function isGuessable(secret: string): boolean {
  return [hasFewCharacters, isRepetition, isSequence, isTemplate].some((check) => check(secret))
}

function hasFewCharacters(secret: string): boolean {
  return new Set(secret).size < FEWEST_CHARACTERS
}

function isRepetition(secret: string): boolean {
  const longest = Math.min(LONGEST_PERIOD, Math.floor(secret.length / 2))
  const periods = Array.from({ length: longest }, (_, index) => index + 1)
  return periods.some((period) => secret.startsWith(secret.slice(period)))
}

function isSequence(secret: string): boolean {
  let neighbours = 0
  for (let at = 1; at < secret.length; at++) {
    if (Math.abs(secret.charCodeAt(at) - secret.charCodeAt(at - 1)) === 1) neighbours++
  }
  return neighbours >= SEQUENCE_SHARE * secret.length
}

function isTemplate(secret: string): boolean {
  const text = secret.toLowerCase()
  return (
    countLetters(text) >= secret.length / 2 && countLetters(text.replace(TEMPLATE_WORD, '')) <= OTHER_LETTERS
  )
}

function countLetters(text: string): number {
  return text.replace(/[^a-z]/g, '').length
}
