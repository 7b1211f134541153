import fc from 'fast-check'
import { Compile } from 'typebox/compile'
import type { Schema } from '../../integration/http/document.ts'

const MOST_ITEMS = 4
// Longer texts cost time and show nothing that the ones at the bounds do not.
const LONGEST = 2_000

/** Whether a value is one of that schema. */
export function isValid(schema: Schema, value: unknown): boolean {
  return checkOf(schema).Check(value)
}

const checks = new WeakMap<Schema, ReturnType<typeof Compile>>()

function checkOf(schema: Schema): ReturnType<typeof Compile> {
  return checks.getOrInsertComputed(schema, () => Compile({ ...schema }))
}

/** Values that a schema of the document lets through. */
export function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  const examples = schema.examples ?? []
  const made = schema.enum
    ? fc.constantFrom(...schema.enum)
    : fc.oneof(...typesOf(schema).map((type) => MADE_BY_TYPE[type](schema)))
  const some = examples.length > 0 ? fc.oneof(fc.constantFrom(...examples), made) : made
  return some.filter((value) => isValid(schema, value) && isPlainJson(value))
}

/** One body that the schema lets through, always the same. */
export function sampleBody(schema: Schema): unknown {
  return fc.sample(valuesOf(schema), { seed: 1, numRuns: 1 })[0]
}

const TYPES = ['string', 'integer', 'number', 'boolean', 'null', 'array', 'object', 'anything'] as const
type TypeName = (typeof TYPES)[number]

function typesOf({ type }: Schema): TypeName[] {
  const named = type === undefined ? ['anything'] : typeof type === 'string' ? [type] : type
  return TYPES.filter((each) => named.includes(each))
}

const MADE_BY_TYPE: Readonly<Record<TypeName, (schema: Schema) => fc.Arbitrary<unknown>>> = {
  string: textsOf,
  integer: ({ minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER }) =>
    fc.oneof(fc.constantFrom(minimum, maximum), fc.integer({ min: minimum, max: maximum })),
  number: ({ minimum = -1e9, maximum = 1e9 }) => fc.double({ min: minimum, max: maximum, noNaN: true }),
  boolean: () => fc.boolean(),
  null: () => fc.constant(null),
  array: ({ items = {}, minItems = 0, maxItems = MOST_ITEMS }) =>
    fc.array(valuesOf(items), {
      minLength: minItems,
      maxLength: Math.max(minItems, Math.min(maxItems, MOST_ITEMS)),
    }),
  object: objectsOf,
  anything: () => fc.jsonValue({ maxDepth: 3 }),
}

function textsOf({ pattern, format, minLength = 0, maxLength = LONGEST }: Schema): fc.Arbitrary<string> {
  // A random text is hardly ever a time.
  if (format === 'date-time') return TIMES
  const most = Math.min(maxLength, LONGEST)
  const words = fc.array(fc.stringMatching(/^[a-z0-9]{1,8}$/), { minLength: 1, maxLength: 4 })
  const bounds = fc
    .constantFrom(minLength, most)
    .map((length) => 'brass7telescope-42_'.repeat(200).slice(0, length))
  return fc.oneof(
    {
      weight: 4,
      arbitrary:
        matching(pattern) ?? fc.string({ minLength, maxLength: Math.max(minLength, Math.min(most, 64)) }),
    },
    { weight: 3, arbitrary: words.map((each) => each.join('.')) },
    { weight: 1, arbitrary: bounds },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength, maxLength: most }) },
  )
}

const TIMES = fc
  .date({ min: new Date(0), max: new Date('2099-12-31T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString())

/** Texts of a pattern that the library can read; it knows no look-ahead. */
function matching(pattern: string | undefined): fc.Arbitrary<string> | undefined {
  if (pattern === undefined) return undefined
  try {
    return fc.stringMatching(new RegExp(pattern, 'u'))
  } catch {
    return undefined
  }
}

function objectsOf({
  properties,
  additionalProperties,
  required = [],
  maxProperties = MOST_ITEMS,
}: Schema): fc.Arbitrary<unknown> {
  if (properties) {
    const members = Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, valuesOf(schema)]),
    )
    return fc.record(members, { requiredKeys: [...required], noNullPrototype: true })
  }
  return fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), valuesOf(memberSchema(additionalProperties)), {
    maxKeys: Math.min(maxProperties, MOST_ITEMS),
    noNullPrototype: true,
  })
}

/** Schema of the members of an object whose members are all alike. */
function memberSchema(additional: unknown): Schema {
  return typeof additional === 'object' && additional !== null ? additional : {}
}

/** What every reader of JSON takes for what was written; the rest has tests of its own (parsing.test.ts). */
function isPlainJson(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(
    ([name, member]) => !/^(__proto__|constructor)$/.test(name) && isPlainJson(member),
  )
}
