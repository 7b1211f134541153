import fc from 'fast-check'
import { ADMIN } from '../../integration/http/client.ts'
import { bodySchema, type Parameter, type Place, type Schema } from '../../integration/http/document.ts'
import type { Sent } from '../../integration/http/traffic.ts'
import type { KnownIds } from './known-ids.ts'
import { valuesOf } from './values.ts'

/** A request that is still to learn which of the ids that are there it names. */
export interface Draft {
  readonly place: Place
  readonly method: string
  readonly params: Readonly<Record<string, Id>>
  readonly query: readonly (readonly [name: string, value: string])[]
  readonly headers: Readonly<Record<string, string | string[]>>
  /** As JSON; undefined for none. */
  readonly body: unknown
  /** Bytes in the place of the body. */
  readonly raw?: string | Buffer
}

interface Id {
  readonly made: string
  /** Which of the known ones; none for a third of them. */
  readonly pick: number
}

/** Requests that the document lets through, of that operation. */
export function draftsOf(place: Place): fc.Arbitrary<Draft> {
  const schema = bodySchema(place.operation)
  const named = (where: Parameter['in']) =>
    (place.operation.parameters ?? []).filter((each) => each.in === where)
  return fc
    .record({
      params: membersOf(
        named('path'),
        (value) => fc.record({ made: value, pick: fc.nat({ max: 1_000 }) }),
        [],
      ),
      // Every parameter narrows a list, so that with all of them there would be nothing left.
      query: fc.oneof(
        fc.constant({}),
        membersOf(named('query'), (value) => value),
      ),
      headers: membersOf(named('header'), (value) => value.filter(isHeaderValue)),
      body: schema ? valuesOf(schema) : fc.constant(undefined),
    })
    .map(({ params, query, headers, body }) => ({
      place,
      method: place.method,
      params,
      query: Object.entries(query),
      headers: { ...ADMIN, ...(schema && { 'content-type': 'application/json' }), ...headers },
      body,
    }))
}

/** The request itself. */
export function toSent({ place, method, params, query, headers, body, raw }: Draft, known: KnownIds): Sent {
  const path = place.path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const { made = 'x', pick = 0 } = params[name] ?? {}
    return encodeURIComponent(known.pick(place.path, pick) ?? made)
  })
  const search = new URLSearchParams(query.map(([name, value]) => [name, value])).toString()
  const sent = { method, path: search ? `${path}?${search}` : path, headers }
  if (raw !== undefined) return { ...sent, body: raw }
  return body === undefined ? sent : { ...sent, body: JSON.stringify(body) }
}

/** The request as a command that repeats it. */
export function toCurl(url: string, { method, path, headers = {}, body }: Sent): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((each) => `-H ${quoted(`${name}: ${String(each)}`)}`),
  )
  const data = Buffer.isBuffer(body) ? body.toString('latin1') : body
  return [
    'curl -i -X',
    method,
    quoted(url + path),
    ...lines,
    ...(typeof data !== 'string' ? [] : ['--data-binary', quoted(data)]),
  ].join(' ')
}

function membersOf<T>(
  parameters: readonly Parameter[],
  toMember: (value: fc.Arbitrary<string>) => fc.Arbitrary<T>,
  requiredKeys?: string[],
): fc.Arbitrary<Record<string, T>> {
  const members = Object.fromEntries(
    parameters.map(({ name, schema, examples = {} }) => [
      name,
      toMember(valuesOf(withExamples(schema, examples)).map(String).filter(fitsIntoTarget)),
    ]),
  )
  const required = requiredKeys
    ? Object.keys(members)
    : parameters.flatMap((each) => (each.required ? [each.name] : []))
  return fc.record(members, { requiredKeys: required, noNullPrototype: true })
}

/** The document has the examples of a parameter beside its schema. */
function withExamples(schema: Schema, examples: NonNullable<Parameter['examples']>): Schema {
  const values = Object.values(examples).map(({ value }) => value)
  return values.length > 0 ? { ...schema, examples: values } : schema
}

/** A segment of dots is a step in the path and no id. */
function fitsIntoTarget(text: string): boolean {
  return text.isWellFormed() && encodeURIComponent(text).length < 4_000 && !/^\.{1,2}$/.test(text)
}

function isHeaderValue(text: string): boolean {
  return /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && text.length < 500
}

function quoted(text: string): string {
  return `$'${text.replace(/[\\']/g, '\\$&').replace(/\p{Cc}/gu, (each) => `\\x${each.charCodeAt(0).toString(16).padStart(2, '0')}`)}'`
}
