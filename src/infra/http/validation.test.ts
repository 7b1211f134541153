import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { Fields, Nullable, SeveralOf } from '../../wire/schemas.ts'
import { compileValidator } from './validation.ts'

const schema = Type.Object({
  path: Type.Optional(Nullable({ type: 'string' })),
  count: Type.Optional(Nullable({ type: 'integer' })),
  items: Type.Optional(Type.Array(Type.String())),
  enabled: Type.Optional(Type.Boolean()),
})

const WRONG_TYPES: readonly (readonly [member: string, message: string])[] = [
  ['path', 'must be a string or null'],
  ['count', 'must be an integer or null'],
  ['items', 'must be an array'],
  ['enabled', 'must be a boolean'],
]

for (const [member, message] of WRONG_TYPES) {
  test(`a member of the wrong type ${message}`, () => {
    const validate = compileValidator({ schema, method: 'PUT', url: '/', httpPart: 'body' })
    const answer = validate({ [member]: {} })
    assert.ok(typeof answer === 'object' && 'error' in answer && answer.error instanceof AppError)
    assert.deepEqual(answer.error.details, [
      { path: member, code: 'wrong_type', message, values: { expected: message.replace('must be ', '') } },
    ])
  })
}

test('an unknown or repeated parameter of a query is called so', () => {
  const closed = Type.Object({ limit: Type.Optional(Type.Integer()) }, { additionalProperties: false })
  const validate = compileValidator({ schema: closed, method: 'GET', url: '/', httpPart: 'querystring' })
  const answer = validate({ limit: ['5', '6'], limt: '5' })
  assert.ok(typeof answer === 'object' && 'error' in answer && answer.error instanceof AppError)
  assert.deepEqual(answer.error.details?.map(({ path, code }) => [path, code]).toSorted(), [
    ['limit', 'repeated_parameter'],
    ['limt', 'unknown_parameter'],
  ])
})

test('a list has commas between its values; what is wrong with one of them is said of the list', () => {
  const query = Fields({ status: Type.Optional(SeveralOf(['open', 'closed'], 'Of a thing.')) })
  const validate = compileValidator({ schema: query, method: 'GET', url: '/', httpPart: 'querystring' })
  assert.deepEqual(validate({ status: 'open' }), { value: { status: ['open'] } })
  assert.deepEqual(validate({ status: 'open,closed' }), { value: { status: ['open', 'closed'] } })
  const faultsOf = (status: unknown) => {
    const answer = validate({ status })
    assert.ok(typeof answer === 'object' && 'error' in answer && answer.error instanceof AppError)
    return answer.error.details?.map(({ path, code }) => [path, code])
  }
  assert.deepEqual(faultsOf('open,old'), [['status', 'not_in_list']])
  assert.deepEqual(faultsOf(''), [['status', 'not_in_list']])
  assert.deepEqual(faultsOf('open,closed,open'), [['status', 'too_many_items']])
  assert.deepEqual(faultsOf(['open', 'closed']), [['status', 'repeated_parameter']])
})
