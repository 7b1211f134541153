import { REDACTED } from '../../kernel/secret.ts'
import { scrubText, isSecretName } from './scrub.ts'

const UNREADABLE = '[unreadable]'
const TOO_MUCH = '[too much]'
const MAX_DEPTH = 8
const MAX_ENTRIES = 100
const MAX_OBJECTS = 2_000
const MAX_CHARACTERS = 65_536

/**
 * A copy of the fields of a log line that is safe to print: plain JSON data, secrets replaced, texts scrubbed, cycles cut,
 * and a size that does not depend on what is logged. Never throws and never changes what it is given.
 */
export function redactFields(fields: object): Record<string, unknown> {
  const redacted = new Redaction().visit(fields, '')
  if (Error.isError(fields)) return { error: redacted }
  const isRecord = typeof redacted === 'object' && redacted !== null && !Array.isArray(redacted)
  return isRecord ? (redacted as Record<string, unknown>) : { value: redacted }
}

class Redaction {
  readonly #ancestors: object[] = []
  #depth = 0
  #objectsLeft = MAX_OBJECTS
  #charactersLeft = MAX_CHARACTERS

  visit(value: unknown, name: string): unknown {
    switch (typeof value) {
      case 'string':
      case 'bigint':
      case 'symbol':
        return this.#visitText(String(value))
      case 'number':
        return Number.isFinite(value) ? value : String(value)
      case 'function':
        return '[function]'
      case 'object':
        return value === null ? null : this.#visitObject(value, name)
      default:
        return value
    }
  }

  #visitText(text: string): string {
    const scrubbed = scrubText(text)
    this.#charactersLeft -= scrubbed.length
    return this.#charactersLeft < 0 ? TOO_MUCH : scrubbed
  }

  #visitObject(value: object, name: string): unknown {
    if (this.#ancestors.includes(value)) return '[circular]'
    if (this.#depth >= MAX_DEPTH) return '[too deep]'
    if (--this.#objectsLeft < 0) return TOO_MUCH
    this.#ancestors.push(value)
    const depth = this.#depth
    try {
      const plain = toPlain(value)
      if (plain !== value) return this.visit(plain, name)
      this.#depth += 1
      return Array.isArray(value) ? this.#visitList(value, name) : this.#visitEntries(value, name)
    } catch {
      return UNREADABLE // a proxy, a getter or a toJSON that throws
    } finally {
      this.#depth = depth
      this.#ancestors.pop()
    }
  }

  #visitList(list: readonly unknown[], name: string): unknown[] {
    const redacted = list.slice(0, MAX_ENTRIES).map((value, index) => {
      // Raw headers and entries are lists of a name followed by its value.
      const before = index % 2 === 1 && list.length % 2 === 0 ? list[index - 1] : undefined
      return typeof before === 'string' && isSecretName(before) ? hide(value) : this.visit(value, name)
    })
    return list.length > redacted.length ? [...redacted, `${list.length - redacted.length} more`] : redacted
  }

  #visitEntries(holder: object, parentName: string): Record<string, unknown> {
    const keys = Object.keys(holder)
    const redacted: Record<string, unknown> = {}
    for (const key of keys.slice(0, MAX_ENTRIES)) {
      const { shownName, isSecret } = classifyKey(key)
      try {
        const value: unknown = Reflect.get(holder, key)
        redacted[shownName] = isSecret(holder, parentName, value) ? hide(value) : this.visit(value, shownName)
      } catch {
        redacted[shownName] = UNREADABLE
      }
    }
    if (keys.length > MAX_ENTRIES) redacted['…'] = `${keys.length - MAX_ENTRIES} more`
    return redacted
  }
}

// Whether there is a secret at all may be printed, and helps.
function hide(value: unknown): unknown {
  return value === undefined || value === null || typeof value === 'boolean' ? value : REDACTED
}

/**
 * What is printed of an object: an error with all of its fields, an object of a class as its `toJSON` says. Every other
 * object of a class (a Map, headers, bytes, a socket) is only named, because its rules for secrets are not known here.
 */
function toPlain(value: object): unknown {
  if (Array.isArray(value) || (isPlain(value) && !hasToJson(value))) return value
  if (isError(value)) return fieldsOfError(value)
  // The `toJSON` of a Buffer lists its bytes.
  if (hasToJson(value) && !ArrayBuffer.isView(value)) return value.toJSON() ?? null
  return `[${String(value.constructor?.name ?? 'object').slice(0, 64)}]`
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function'
}

/** Errors of other realms too, and objects that only inherit from `Error`. */
function isError(value: object): value is Error {
  return Error.isError(value) || value instanceof Error
}

// Copied as descriptors, so that a getter that throws costs only its own field; a cause is not enumerable.
function fieldsOfError(error: Error): object {
  const { name: _name, message: _message, stack: _stack, ...own } = Object.getOwnPropertyDescriptors(error)
  const fields = { type: error.name, message: error.message }
  for (const [key, descriptor] of Object.entries(own)) {
    Object.defineProperty(fields, key, { ...descriptor, enumerable: true })
  }
  return Object.assign(fields, { stack: error.stack })
}

const MAX_REMEMBERED = 1_000
const MAX_KEY = 128

/** Whether a value is a secret because of the keys beside it or above it. */
type ContextRule = (holder: object, parentName: string, value: unknown) => boolean

interface KeyClass {
  /** The key as it may be printed. */
  readonly shownName: string
  readonly isSecret: ContextRule
}

// Without this cache a line takes more than twice as long.
const classes = new Map<string, KeyClass>()

/** What the key of an object says about its value. */
function classifyKey(key: string): KeyClass {
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
