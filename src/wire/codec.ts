import type { Static, TObject } from 'typebox'
import { invalidField } from '../kernel/errors.ts'
import { JsonText } from '../kernel/text.ts'
import { parseRfc3339, toRfc3339 } from '../kernel/time.ts'

// Converts between models (camelCase, times in epoch milliseconds) and the wire (snake_case, times in RFC 3339) by the
// schema, which is the only declaration of a field.

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name

// oxlint-disable-next-line typescript/no-explicit-any -- only `any` lets each writer name the model's type itself
type Writers = Readonly<Record<string, (model: any) => unknown>>
type WritersModel<W> = W[keyof W] extends (model: infer T) => unknown ? T : unknown

/** A model that can be encoded: it has a member for each field of the schema without a writer. */
type ModelOf<S extends TObject, W> = WritersModel<W> & {
  readonly [Name in keyof Static<S> as Name extends keyof W ? never : Camel<Name>]: unknown
}

/** Writes a model as the JSON object that a schema describes. */
export type Encode<T> = (model: T) => string

/** Writes a model as the body of an answer. */
export function bodyWriter<T>(encode: Encode<T>): (model: T) => JsonText {
  return (model) => new JsonText(encode(model))
}

type WriteValue = (value: unknown) => string

/**
 * An encoder for the models of a schema made by `Fields`. `writers` compute the fields whose value is not the model's member
 * of that name; a {@link JsonText} is written as it is. A member that is undefined is left out.
 */
export function encoderOf<S extends TObject, W extends Writers = Record<never, never>>(
  schema: S,
  writers?: W,
): Encode<ModelOf<S, W>> {
  const fields = Object.entries(schema.properties).map(([name, property]) => {
    const read = writers?.[name]
    return { name, ...(read && { read }), write: writerOf(property) }
  })
  return compileEncoder(fields)
}

interface FieldWriter {
  readonly name: string
  readonly read?: (model: unknown) => unknown
  readonly write: WriteValue
}

/** The function is generated code: a loop that reads members by changing names takes half as long again. */
function compileEncoder(fields: readonly FieldWriter[]): Encode<unknown> {
  const lines = fields.flatMap(({ name, read }, index) => {
    const [first, next] = ['{', ','].map((separator) =>
      JSON.stringify(`${separator}${JSON.stringify(name)}:`),
    )
    return [
      `value = ${read ? `fields[${index}].read(model)` : `model[${JSON.stringify(toCamel(name))}]`}`,
      `if (value !== undefined) text += (text === '' ? ${first} : ${next}) + writeField(value, write${index})`,
    ]
  })
  const constants = fields.map((_, index) => `const write${index} = fields[${index}].write`)
  const encode = [
    '(model) => {',
    "let text = '', value",
    ...lines,
    "return text === '' ? '{}' : text + '}'",
    '}',
  ]
  // oxlint-disable-next-line typescript/no-implied-eval -- the names are quoted
  const compile = new Function(
    'fields',
    'writeField',
    [...constants, `return ${encode.join('\n')}`].join('\n'),
  )
  return compile(fields, writeField) as Encode<unknown>
}

/** JSON text is written as it is, whatever the schema says. */
function writeField(value: unknown, write: WriteValue): string {
  return value instanceof JsonText ? value.text : write(value)
}

function writerOf(property: unknown): WriteValue {
  const { format, items, type } = property as { format?: string; items?: unknown; type?: unknown }
  if (format === 'date-time') return writeTime
  if (isObject(property)) return writeNullable(encoderOf(property) as WriteValue)
  if (type === 'array' && items !== undefined) return writeNullable(arrayWriter(writerOf(items)))
  return writeJson
}

function writeNullable(write: WriteValue): WriteValue {
  return (value) => (value === null ? 'null' : write(value))
}

const writeTime: WriteValue = (at) => (at === null ? 'null' : `"${toRfc3339(at as number)}"`)

const writeJson: WriteValue = (value) => (value === null ? 'null' : JSON.stringify(value))

function arrayWriter(write: WriteValue): WriteValue {
  return (values) => `[${(values as unknown[]).map((value) => writeField(value, write)).join(',')}]`
}

/** An object made by `Fields`: all its fields are declared. Any other one is the client's data and stays as it is. */
function isObject(schema: unknown): schema is TObject {
  const { properties, additionalProperties } = schema as {
    properties?: object
    additionalProperties?: unknown
  }
  return properties !== undefined && additionalProperties === false
}

/**
 * A decoder of valid bodies of a schema made by `Fields`, with the objects and lists in it; it throws `validation_failed`
 * for a time that does not exist. The schema of a tree has a schema for each level: that also bounds its depth.
 */
export function decoderOf<T>(schema: TObject): (body: unknown) => T {
  const read = objectReader(schema)
  return (body) => read(body, '') as T
}

/** `path` is the place of the value in the body, such as `items.0.title`. */
type ReadValue = (value: unknown, path: string) => unknown

function objectReader(schema: TObject): ReadValue {
  const fields = Object.entries(schema.properties).map(([name, property]) => ({
    name,
    member: toCamel(name),
    read: readerOf(property),
  }))
  return (body, path) => {
    const json = body as Record<string, unknown>
    const model: Record<string, unknown> = {}
    for (const { name, member, read } of fields) {
      const value = json[name]
      if (value !== undefined)
        model[member] = read ? read(value, path === '' ? name : `${path}.${name}`) : value
    }
    return model
  }
}

/** Undefined for a value that is the same in the model. */
function readerOf(property: unknown): ReadValue | undefined {
  const { format, items } = property as { format?: string; items?: unknown }
  if (format === 'date-time') return unlessNull((value, path) => parseTime(path, value as string))
  if (isObject(property)) return unlessNull(objectReader(property))
  const read = items === undefined ? undefined : readerOf(items)
  return read && unlessNull(listReader(read))
}

function listReader(read: ReadValue): ReadValue {
  return (values, path) => (values as unknown[]).map((value, index) => read(value, `${path}.${index}`))
}

function unlessNull(read: ReadValue): ReadValue {
  return (value, path) => (value === null ? null : read(value, path))
}

/** Throws `validation_failed` for a text that is not a time; `path` names its field. */
export function parseTime(path: string, text: string): number {
  const at = parseRfc3339(text)
  if (at === undefined) throw invalidField(path, 'not_a_time')
  return at
}

function toCamel(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}
