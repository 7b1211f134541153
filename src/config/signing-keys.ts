import type { RotatedKeys, Secret } from '../kernel/secret.ts'
import { signingKey, valueType } from './value-types.ts'

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
    const [current, ...former] = textsIn(text).map((each) => signingKey.parse(each, ''))
    if (!current || former.length >= MOST_KEYS || !former.every(isSecret)) return undefined
    return isWithoutRepetition([current, ...former]) ? [current, ...former] : undefined
  },
  faultyItem(text) {
    const index = textsIn(text).findIndex((each) => !signingKey.parse(each, ''))
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

function isSecret(key: Secret | undefined): key is Secret {
  return key !== undefined
}

function isWithoutRepetition(keys: readonly Secret[]): boolean {
  return new Set(keys.map((key) => key.reveal())).size === keys.length
}
