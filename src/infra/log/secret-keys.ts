import { scrubText } from './scrub.ts'
import { isSecretName } from './secret-names.ts'

const MAX_REMEMBERED = 1_000
const MAX_KEY = 128

/** Says whether a value is a secret because of what stands beside it or above it. */
type ContextRule = (holder: object, parentName: string, value: unknown) => boolean

export interface KeyVerdict {
  /** The key as it may be printed. */
  readonly shownName: string
  readonly secret: boolean
  /** Where the key alone does not tell. */
  readonly inContext: ContextRule | undefined
}

const verdicts = new Map<string, KeyVerdict>()

/** What the key of an object says about its value. */
export function judgeKey(key: string): KeyVerdict {
  return verdicts.get(key) ?? judgeNewKey(key)
}

function judgeNewKey(key: string): KeyVerdict {
  const verdict = {
    // Assigning to `__proto__` would lose the value and change the object.
    shownName: key === '__proto__' ? '(__proto__)' : scrubText(key.slice(0, MAX_KEY)),
    secret: isSecretName(key),
    inContext: CONTEXT_RULES.get(key.toLowerCase()),
  }
  // A key that holds a secret itself must not stay in memory, nor may keys that clients invent fill it.
  if (verdict.shownName === key && verdicts.size < MAX_REMEMBERED) verdicts.set(key, verdict)
  return verdict
}

const underRobot: ContextRule = (_holder, parentName) => /robot|webhook/i.test(parentName)
const underKeyOwner: ContextRule = (_holder, parentName) =>
  /robot|webhook|jwt|signing|private|encryption|tls/i.test(parentName)
const inTokenRequest: ContextRule = (holder) =>
  ['grant_type', 'redirect_uri', 'code_verifier', 'client_id'].some((name) => name in holder)
const inJsonWebKey: ContextRule = (holder) => 'kty' in holder
const besideSecretName: ContextRule = (holder) =>
  ['name', 'key', 'header', 'field'].some((name) => {
    const told: unknown = Reflect.get(holder, name)
    return typeof told === 'string' && isSecretName(told)
  })
const userAndPassword: ContextRule = (_holder, _parentName, value) =>
  typeof value === 'string' && value.includes(':')

const CONTEXT_RULES = new Map<string, ContextRule>([
  ['url', underRobot],
  ['uri', underRobot],
  ['href', underRobot],
  ['key', underKeyOwner],
  ['code', inTokenRequest],
  ['value', besideSecretName],
  ['auth', userAndPassword],
  ...['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'].map((name): [string, ContextRule] => [name, inJsonWebKey]),
])
