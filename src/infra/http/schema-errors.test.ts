import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { Type, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { chanceOf } from '../../../test/support/random.ts'
import { schemaErrors, type SchemaError } from './schema-errors.ts'

// The library stops there.
const LIBRARY_LIMIT = 8

const closed = { additionalProperties: false }
const Leaf = Type.Object({ id: Type.String({ maxLength: 2 }) }, closed)
const Branch = Type.Object(
  { id: Type.String({ maxLength: 2 }), children: Type.Optional(Type.Array(Leaf, { maxItems: 2 })) },
  closed,
)
const Tree = Type.Object(
  { items: Type.Array(Branch, { maxItems: 3 }), flag: Type.Optional(Type.Boolean()) },
  closed,
)
const SCHEMAS: readonly TSchema[] = [Tree, Type.Array(Branch), Type.Array(Type.Array(Type.Integer())), Leaf]

const aName = fc.constantFrom('id', 'items', 'children', 'flag', 'x')
const { value: aValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'medium' },
    fc.constantFrom('a', 'abc', 1, true, null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(aName, tie('value'), { maxKeys: 3 }),
  ),
}))

/** What each error says, in no order. */
const shown = (errors: readonly SchemaError[]) =>
  errors.map(({ instancePath, keyword, message }) => `${instancePath} ${keyword} ${message}`).toSorted()

test('the library describes the faults of a value', (t: TestContext) => {
  const cases = SCHEMAS.map((schema) => ({ library: Compile(schema), describe: schemaErrors(schema) }))
  let faulty = 0
  fc.assert(
    fc.property(aValue, (value) => {
      for (const { library, describe } of cases) {
        const errors = shown(describe(value, ''))
        const expected = shown(library.Errors(value))
        if (expected.length < LIBRARY_LIMIT) assert.deepEqual(errors, expected)
        else for (const error of expected) assert.ok(errors.includes(error), error)
        if (errors.length > 0) faulty++
      }
    }),
    { seed: chanceOf(t).seed, numRuns: 1_000 },
  )
  assert.ok(faulty > 0)
})

test('of a list with many wrong items, the first ones are described, wherever they are', () => {
  const describe = schemaErrors(Tree)
  const wrong = Array.from({ length: 50_000 }, () => ({ id: 1 }))
  const paths = describe({ items: wrong }, '').map(({ instancePath }) => instancePath)
  assert.deepEqual(paths, ['/items', ...Array.from({ length: 20 }, (_, index) => `/items/${index}/id`)])
  const right = Array.from({ length: 50_000 }, () => ({ id: 'a' }))
  const last = describe({ items: [...right, { id: 'a', children: [{ id: 'b' }, { id: 2 }] }] }, '')
  assert.deepEqual(
    last.map(({ instancePath }) => instancePath),
    ['/items', '/items/50000/children/1/id'],
  )
})

test('of very many unknown members only those that are listed are read', () => {
  const schema = Type.Object({ name: Type.String() }, { additionalProperties: false })
  const wrong = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`field_${index}`, 1]))
  let reads = 0
  const counted = new Proxy<Record<string, unknown>>(wrong, {
    get: (target, name: string) => {
      reads++
      return target[name]
    },
  })
  assert.ok(schemaErrors(schema)(counted, '').length > 0)
  assert.ok(reads <= 20, `${reads} members were read`)
})
