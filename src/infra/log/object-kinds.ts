import { EventEmitter } from 'node:events'
import { scrubText } from './scrub.ts'

type Boxed = InstanceType<typeof String | typeof Number | typeof RegExp>
type Bytes = ArrayBufferView | ArrayBufferLike
/** What gives names with values when it is iterated. */
export type Pairs = Iterable<readonly [unknown, unknown]>

export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Errors of other realms too, and what only inherits from `Error`. */
export function isError(value: object): value is Error {
  return Error.isError(value) || value instanceof Error
}

export function isBytes(value: object): value is Bytes {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof SharedArrayBuffer
}

export function isPairs(value: object): value is Pairs {
  return [Map, Headers, URLSearchParams, FormData].some((kind) => value instanceof kind)
}

/** Sockets, requests and servers, which are graphs of the whole program. */
export function isEmitter(value: object): value is EventEmitter {
  return value instanceof EventEmitter
}

/** What stands for a text and has none of its own properties. */
export function isBoxed(value: object): value is Boxed {
  return value instanceof String || value instanceof Number || value instanceof RegExp
}

export function hasToJson(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function'
}

/** The name of its class, where the object itself must not or cannot be shown. */
export function classLabel(value: object): string {
  return `[${scrubText(String(value.constructor?.name ?? 'object').slice(0, 64))}]`
}
