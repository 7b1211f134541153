import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { AppError } from '../kernel/errors.ts'
import { JsonText } from '../kernel/text.ts'
import { decoderOf, encoderOf } from './codec.ts'
import { Fields, GivenTime, Nullable, NullableTimestamp, Timestamp } from './schemas.ts'

const AT = Date.UTC(2026, 0, 31, 2)
const AT_TEXT = '2026-01-31T02:00:00.000Z'

const Step = Fields({ step_name: Type.String(), done_at: NullableTimestamp })
const Thing = Fields({
  thing_id: Type.String(),
  created_at: Timestamp,
  closed_at: NullableTimestamp,
  size: Nullable<number>({ type: 'integer' }),
  tags: Type.Array(Type.String()),
  times: Type.Array(Timestamp),
  steps: Type.Array(Step),
  first_step: Step,
  note: Type.Optional(Type.String()),
})

const THING = {
  thingId: 't-1',
  createdAt: AT,
  closedAt: null,
  size: null,
  tags: ['a', '"b"\n'],
  times: [AT],
  steps: [{ stepName: 'one', doneAt: AT }],
  firstStep: { stepName: 'one', doneAt: null },
  note: undefined as string | undefined,
}

test('a model is written as its schema says: snake_case names, RFC 3339 times, nested objects and lists', () => {
  const encode = encoderOf(Thing)
  assert.deepEqual(JSON.parse(encode(THING)), {
    thing_id: 't-1',
    created_at: AT_TEXT,
    closed_at: null,
    size: null,
    tags: ['a', '"b"\n'],
    times: [AT_TEXT],
    steps: [{ step_name: 'one', done_at: AT_TEXT }],
    first_step: { step_name: 'one', done_at: null },
  })
  assert.equal((JSON.parse(encode({ ...THING, note: 'here' })) as { note: string }).note, 'here')
})

test('members that the schema does not name are not written', () => {
  const encode = encoderOf(Fields({ name: Type.String() }))
  assert.equal(encode({ name: 'ada', passwordHash: 'secret' } as { name: string }), '{"name":"ada"}')
})

test('a writer gives a field that the model does not have, JSON text as it stands', () => {
  const encode = encoderOf(Fields({ at: Timestamp, payload: Type.Unknown() }), {
    at: ({ seconds }: { seconds: number }) => seconds * 1_000,
    payload: () => new JsonText('{"a":[1]}'),
  })
  assert.equal(encode({ seconds: AT / 1_000 }), `{"at":"${AT_TEXT}","payload":{"a":[1]}}`)
})

test('a body is read in the words of the model, its times with any offset', () => {
  const decode = decoderOf<{ thingId: string; createdAt?: number }>(
    Fields({ thing_id: Type.String(), created_at: Type.Optional(GivenTime()) }),
  )
  assert.deepEqual(decode({ thing_id: 't-1', created_at: '2026-01-31T03:00:00+01:00' }), {
    thingId: 't-1',
    createdAt: AT,
  })
  assert.deepEqual(decode({ thing_id: 't-1' }), { thingId: 't-1' })
  assert.throws(() => decode({ thing_id: 't-1', created_at: '9999-12-31T23:59:59-01:00' }), {
    code: 'validation_failed',
    message: /created_at/,
  })
})

const Node = Fields({ node_id: Type.String(), changed_at: Type.Optional(GivenTime()) })
const Tree = Fields({
  first_node: Type.Optional(Node),
  all_nodes: Type.Array(Fields({ ...Node.properties, child_nodes: Type.Array(Node) })),
  all_times: Type.Optional(Type.Array(GivenTime())),
  no_node: Type.Optional(Nullable<object>({ ...Node })),
  free_form: Type.Optional(Type.Object({})),
  size_list: Type.Optional(Type.Array(Type.Integer())),
})

test('objects and lists in a body are read as the body is', () => {
  const decode = decoderOf(Tree)
  const node = { node_id: 'n-1', changed_at: AT_TEXT }
  assert.deepEqual(
    decode({ first_node: node, all_nodes: [{ ...node, child_nodes: [node, { node_id: 'n-2' }] }] }),
    {
      firstNode: { nodeId: 'n-1', changedAt: AT },
      allNodes: [
        { nodeId: 'n-1', changedAt: AT, childNodes: [{ nodeId: 'n-1', changedAt: AT }, { nodeId: 'n-2' }] },
      ],
    },
  )
  assert.deepEqual(decode({ all_nodes: [], all_times: [AT_TEXT], no_node: null, size_list: [1] }), {
    allNodes: [],
    allTimes: [AT],
    noNode: null,
    sizeList: [1],
  })
})

test('an object whose fields are not declared stays as it is', () => {
  const schema = Fields({ some_data: Type.Object({}), more_data: Type.Record(Type.String(), Type.Any()) })
  const data = { a_b: { c_d: AT_TEXT } }
  const [model, body] = [
    { someData: data, moreData: data },
    { some_data: data, more_data: data },
  ]
  assert.deepEqual(decoderOf(schema)(body), model)
  assert.deepEqual(JSON.parse(encoderOf(schema)(model)), body)
})

test('a time that does not exist is refused with its path in the body', () => {
  const bad = '2026-02-30T00:00:00Z'
  const bodies: readonly (readonly [body: object, path: string])[] = [
    [{ all_nodes: [], first_node: { node_id: 'n', changed_at: bad } }, 'first_node.changed_at'],
    [{ all_nodes: [{ child_nodes: [{}, { changed_at: bad }] }] }, 'all_nodes.0.child_nodes.1.changed_at'],
    [{ all_nodes: [], all_times: [AT_TEXT, bad] }, 'all_times.1'],
  ]
  for (const [body, path] of bodies)
    assert.throws(
      () => decoderOf(Tree)(body),
      (error) => {
        assert.ok(error instanceof AppError)
        assert.equal(error.details?.[0]?.path, path)
        return true
      },
    )
})
