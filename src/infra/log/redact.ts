import { Secret } from '../../kernel/secret.ts'
import {
  classLabel,
  hasToJson,
  isBoxed,
  isBytes,
  isEmitter,
  isError,
  isPairs,
  isPlain,
  type Pairs,
} from './object-kinds.ts'
import { scrubText } from './scrub.ts'
import { judgeKey } from './secret-keys.ts'
import { isSecretName, REDACTED } from './secret-names.ts'

const UNREADABLE = '[unreadable]'
const MAX_DEPTH = 8
const MAX_ENTRIES = 100
const MAX_OBJECTS = 2_000
const MAX_CHARACTERS = 65_536

/** What may still be printed: the size of a line never depends on what is logged. */
interface Walk {
  objectsLeft: number
  charactersLeft: number
  readonly ancestors: object[]
}

/**
 * A copy of the fields of a log line that is safe to print: plain JSON data, secrets replaced, texts scrubbed, depth, breadth
 * and size bounded, cycles cut. Never throws and never changes what it is given.
 */
export function redactFields(fields: object): Record<string, unknown> {
  const walk: Walk = { objectsLeft: MAX_OBJECTS, charactersLeft: MAX_CHARACTERS, ancestors: [fields] }
  try {
    if (isPlain(fields)) return visitEntries(fields, Object.keys(fields), '', walk)
    return { [isError(fields) ? 'error' : 'value']: visitForm(fields, '', walk) }
  } catch {
    return { value: UNREADABLE }
  }
}

function visit(value: unknown, name: string, walk: Walk): unknown {
  switch (typeof value) {
    case 'string':
    case 'bigint':
    case 'symbol':
      return visitText(String(value), walk)
    case 'number':
      return Number.isFinite(value) ? value : String(value)
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
  if (--walk.objectsLeft < 0) return '[too much]'
  walk.ancestors.push(value)
  try {
    return visitForm(value, name, walk)
  } catch {
    // A proxy, a getter or a toJSON that throws must not cost the line.
    return UNREADABLE
  } finally {
    walk.ancestors.pop()
  }
}

function visitForm(value: object, name: string, walk: Walk): unknown {
  if (value instanceof Secret) return REDACTED
  if (Array.isArray(value)) return visitList(value, name, walk)
  if (isError(value)) return visitError(value, name, walk)
  if (isBytes(value)) return `[${value.byteLength} bytes]`
  if (isPairs(value)) return visitPairs(value, name, walk)
  if (value instanceof Set) return visitList([...value.values().take(MAX_ENTRIES + 1)], name, walk)
  if (isEmitter(value)) return classLabel(value)
  if (isBoxed(value)) return visitText(String(value), walk)
  if (hasToJson(value)) return visit(value.toJSON(), name, walk)
  return visitProperties(value, name, walk)
}

function visitList(list: readonly unknown[], name: string, walk: Walk): unknown[] {
  const shown = list.slice(0, MAX_ENTRIES).map((value, index) => {
    // Raw headers and entries are lists of a name followed by its value.
    const before = index % 2 === 1 && list.length % 2 === 0 ? list[index - 1] : undefined
    return typeof before === 'string' && isSecretName(before) ? hide(value) : visit(value, name, walk)
  })
  return list.length > shown.length ? [...shown, `${list.length - shown.length} more`] : shown
}

const ERROR_TEXTS = new Set(['name', 'message', 'stack'])
// Not enumerable where the language sets them.
const ERROR_CAUSES = ['cause', 'errors', 'error', 'suppressed']

function visitError(error: Error, name: string, walk: Walk): Record<string, unknown> {
  const causes = ERROR_CAUSES.filter((key) => Object.hasOwn(error, key))
  const keys = new Set([...Object.keys(error), ...causes]).difference(ERROR_TEXTS)
  return {
    type: visit(error.name, name, walk),
    message: visit(error.message, name, walk),
    ...visitEntries(error, [...keys], name, walk),
    stack: visit(error.stack, name, walk),
  }
}

function visitPairs(pairs: Pairs, name: string, walk: Walk): Record<string, unknown> {
  const named = Iterator.from(pairs)
    .take(MAX_ENTRIES + 1)
    .map(([key, value]): [string, unknown] => [labelOf(key), value])
  const holder = Object.fromEntries(named)
  return visitEntries(holder, Object.keys(holder), name, walk)
}

function labelOf(key: unknown): string {
  return typeof key === 'object' && key !== null ? classLabel(key) : String(key)
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
  for (const key of keys.slice(0, MAX_ENTRIES)) {
    const verdict = judgeKey(key)
    try {
      const value: unknown = Reflect.get(holder, key)
      const secret = verdict.secret || verdict.inContext?.(holder, parentName, value) === true
      shown[verdict.shownName] = secret ? hide(value) : visit(value, verdict.shownName, walk)
    } catch {
      shown[verdict.shownName] = UNREADABLE
    }
  }
  if (keys.length > MAX_ENTRIES) shown['…'] = `${keys.length - MAX_ENTRIES} more`
  return shown
}

// Whether there is a secret at all may be told, and helps.
function hide(value: unknown): unknown {
  return value === undefined || value === null || typeof value === 'boolean' ? value : REDACTED
}
