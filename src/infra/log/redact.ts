import { EventEmitter } from 'node:events'
import { scrubText } from './scrub.ts'
import { classifyKey } from './secret-keys.ts'
import { isSecretName, REDACTED } from './secret-names.ts'

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
    const shown = list.slice(0, MAX_ENTRIES).map((value, index) => {
      // Raw headers and entries are lists of a name followed by its value.
      const before = index % 2 === 1 && list.length % 2 === 0 ? list[index - 1] : undefined
      return typeof before === 'string' && isSecretName(before) ? hide(value) : this.visit(value, name)
    })
    return list.length > shown.length ? [...shown, `${list.length - shown.length} more`] : shown
  }

  #visitEntries(holder: object, parentName: string): Record<string, unknown> {
    const keys = Object.keys(holder)
    const shown: Record<string, unknown> = {}
    for (const key of keys.slice(0, MAX_ENTRIES)) {
      const { shownName, isSecret } = classifyKey(key)
      try {
        const value: unknown = Reflect.get(holder, key)
        shown[shownName] = isSecret(holder, parentName, value) ? hide(value) : this.visit(value, shownName)
      } catch {
        shown[shownName] = UNREADABLE
      }
    }
    if (keys.length > MAX_ENTRIES) shown['…'] = `${keys.length - MAX_ENTRIES} more`
    return shown
  }
}

// Whether there is a secret at all may be printed, and helps.
function hide(value: unknown): unknown {
  return value === undefined || value === null || typeof value === 'boolean' ? value : REDACTED
}

/** What is printed instead of an object that its own properties do not describe; undefined for other objects. */
type Conversion = (value: object) => unknown

const CONVERSIONS: readonly Conversion[] = [
  (value) => (isError(value) ? fieldsOfError(value) : undefined),
  (value) => (isBytes(value) ? `[${value.byteLength} bytes]` : undefined),
  (value) => (isPairs(value) ? fieldsOfPairs(value) : undefined),
  (value) => (value instanceof Set ? [...value.values().take(MAX_ENTRIES + 1)] : undefined),
  // Sockets, requests and servers are graphs of the whole program.
  (value) => (value instanceof EventEmitter ? classLabel(value) : undefined),
  (value) => (isBoxed(value) ? String(value) : undefined),
  (value) => (hasToJson(value) ? (value.toJSON() ?? null) : undefined),
  // A key object or a promise has no properties of its own; its class at least says what it is.
  (value) => (!isPlain(value) && Object.keys(value).length === 0 ? classLabel(value) : undefined),
]

function toPlain(value: object): unknown {
  if (Array.isArray(value) || (isPlain(value) && !hasToJson(value))) return value
  for (const convert of CONVERSIONS) {
    const converted = convert(value)
    if (converted !== undefined) return converted
  }
  return value
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

function isBytes(value: object): value is ArrayBufferView | ArrayBufferLike {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof SharedArrayBuffer
}

function isBoxed(value: object): value is InstanceType<typeof String | typeof Number | typeof RegExp> {
  return value instanceof String || value instanceof Number || value instanceof RegExp
}

function isPairs(value: object): value is Iterable<readonly [unknown, unknown]> {
  return [Map, Headers, URLSearchParams, FormData].some((kind) => value instanceof kind)
}

function fieldsOfPairs(pairs: Iterable<readonly [unknown, unknown]>): object {
  const labelOf = (key: unknown) => (typeof key === 'object' && key !== null ? classLabel(key) : String(key))
  const named = Iterator.from(pairs).take(MAX_ENTRIES + 1)
  return Object.fromEntries(named.map(([key, value]) => [labelOf(key), value]))
}

function classLabel(value: object): string {
  return `[${String(value.constructor?.name ?? 'object').slice(0, 64)}]`
}
