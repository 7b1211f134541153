import { scrubText } from './scrub.ts'
import { isSecretName } from './secret-names.ts'

const MAX_REMEMBERED = 1_000
const MAX_KEY = 128

/** Whether a value is a secret because of the keys beside it or above it. */
type ContextRule = (holder: object, parentName: string, value: unknown) => boolean

interface KeyClass {
  /** The key as it may be printed. */
  readonly shownName: string
  readonly isSecret: ContextRule
}

// Without it a line takes more than twice as long.
const classes = new Map<string, KeyClass>()

/** What the key of an object says about its value. */
export function classifyKey(key: string): KeyClass {
  const known = classes.get(key)
  if (known) return known
  // An assignment to `__proto__` would lose the value and change the object.
  const shownName = key === '__proto__' ? '(__proto__)' : scrubText(key.slice(0, MAX_KEY))
  const keyClass = { shownName, isSecret: isSecretName(key) ? () => true : contextRule(key.toLowerCase()) }
  // A key that holds a secret itself must not stay in memory, nor may keys that clients invent fill it.
  if (shownName === key && classes.size < MAX_REMEMBERED) classes.set(key, keyClass)
  return keyClass
}

const CONTEXT_RULES: readonly (readonly [keys: string, rule: ContextRule])[] = [
  ['url uri href', (_holder, parent) => /robot|webhook/i.test(parent)],
  ['key', (_holder, parent) => /robot|webhook|jwt|signing|private|encryption|tls/i.test(parent)],
  ['code', (holder) => hasAny(holder, ['grant_type', 'redirect_uri', 'code_verifier', 'client_id'])],
  ['d p q dp dq qi k', (holder) => 'kty' in holder],
  ['value', (holder) => ['name', 'key', 'header', 'field'].some((label) => namesSecret(holder, label))],
  ['auth', (_holder, _parent, value) => typeof value === 'string' && value.includes(':')],
]

function contextRule(key: string): ContextRule {
  const [, rule] = CONTEXT_RULES.find(([keys]) => keys.split(' ').includes(key)) ?? []
  return rule ?? (() => false)
}

function hasAny(holder: object, names: readonly string[]): boolean {
  return names.some((name) => name in holder)
}

function namesSecret(holder: object, label: string): boolean {
  const name: unknown = Reflect.get(holder, label)
  return typeof name === 'string' && isSecretName(name)
}
