import { Compile } from 'typebox/compile'
import type { TSchema } from 'typebox'

/** What the schema library says of one fault. */
export interface SchemaError {
  readonly keyword: string
  /** JSON pointer (RFC 6901) */
  readonly instancePath: string
  readonly message: string
  readonly params?: object
}

/** The faults of a value at that path (RFC 6901). */
type Describe = (value: unknown, path: string) => SchemaError[]

// A response lists no more.
const ERROR_LIMIT = 20

interface ListSchema extends TSchema {
  readonly items: TSchema
}

/**
 * Describes the faults of invalid values. The library takes a hundred times longer to describe a value than to check it,
 * wrong or right, so the items of lists are checked first, and only wrong ones are described: about the first
 * {@link ERROR_LIMIT} of a list.
 */
export function schemaErrors(schema: TSchema): Describe {
  const describeLists = listsIn(schema).map(([name, list]) => ({
    name,
    describe: lazy(() => itemErrors(list)),
  }))
  const own = Compile(withoutItems(schema))
  return (value, path) => {
    const errors = own
      .Errors(withFewUnknown(schema, value))
      .map((error) => ({ ...error, instancePath: path + error.instancePath }))
    const below = describeLists.flatMap(({ name, describe }) =>
      name === undefined ? describe(value, path) : describe(memberOf(value, name), `${path}/${name}`),
    )
    return [...errors, ...below]
  }
}

/** The value with as many of its unknown members as a response lists: a body may have a hundred thousand. */
function withFewUnknown(schema: TSchema, value: unknown): unknown {
  if (!isClosed(schema) || typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const members = membersOf(schema)
  const kept: [string, unknown][] = Object.entries(members).flatMap(([name, member]) =>
    Object.hasOwn(value, name) ? [[name, withFewUnknown(member, memberOf(value, name))]] : [],
  )
  const limit = kept.length + ERROR_LIMIT
  for (const name in value) {
    if (kept.length >= limit) break
    if (!Object.hasOwn(members, name)) kept.push([name, memberOf(value, name)])
  }
  return Object.fromEntries(kept)
}

/** Whether the schema refuses the members that it does not name. */
function isClosed(schema: TSchema): boolean {
  const { additionalProperties, patternProperties } = schema as Record<string, unknown>
  return additionalProperties === false && patternProperties === undefined
}

function itemErrors({ items }: ListSchema): Describe {
  const check = Compile(items)
  const describe = lazy(() => schemaErrors(items))
  return (values, path) => {
    if (!Array.isArray(values)) return []
    const errors: SchemaError[] = []
    for (const [index, value] of values.entries()) {
      if (errors.length >= ERROR_LIMIT) break
      if (!check.Check(value)) errors.push(...describe(value, `${path}/${index}`))
    }
    return errors
  }
}

/** The lists in a schema by the names of their members; without a name, the schema itself. */
function listsIn(schema: TSchema): [name: string | undefined, list: ListSchema][] {
  if (isList(schema)) return [[undefined, schema]]
  return Object.entries(membersOf(schema)).flatMap(([name, member]): [string, ListSchema][] =>
    isList(member) ? [[name, member]] : [],
  )
}

/** The schema without what it demands of the items of its lists. */
function withoutItems(schema: TSchema): TSchema {
  if (isList(schema)) return listOfAnything(schema)
  const lists = listsIn(schema).map(([name, list]) => [name, listOfAnything(list)])
  return lists.length === 0
    ? schema
    : { ...schema, properties: { ...membersOf(schema), ...Object.fromEntries(lists) } }
}

function listOfAnything({ items: _, ...list }: ListSchema): TSchema {
  return list
}

function membersOf(schema: TSchema): Readonly<Record<string, TSchema>> {
  return 'properties' in schema ? (schema.properties as Record<string, TSchema>) : {}
}

function isList(schema: TSchema): schema is ListSchema {
  return 'items' in schema
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

/** Compiling takes a while, and most schemas are never needed: only those of wrong values are. */
function lazy(create: () => Describe): Describe {
  let describe: Describe | undefined
  return (value, path) => (describe ??= create())(value, path)
}
