import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attributesOf, toCloudEvent, traceHeadersOfEvent } from './events.ts'
import {
  bindTrace,
  bindWork,
  continuedTrace,
  currentTrace,
  newTrace,
  receivedTrace,
  runInTrace,
  storedTrace,
  storedTraceHeaders,
  traceEnvironment,
  traceHeaders,
} from './trace.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const TRACEPARENT = `00-${TRACE}-${PARENT}-01`

const VALID: readonly (readonly [name: string, traceparent: string, isSampled: boolean])[] = [
  ['version 00', TRACEPARENT, true],
  ['not sampled', `00-${TRACE}-${PARENT}-00`, false],
  ['with a flag of a later level', `00-${TRACE}-${PARENT}-03`, true],
  ['a later version', `cc-${TRACE}-${PARENT}-01`, true],
  ['a later version with more parts', `cc-${TRACE}-${PARENT}-01-what-the-future-will-be`, true],
]

for (const [name, traceparent, isSampled] of VALID)
  test(`a traceparent is continued: ${name}`, () => {
    const trace = receivedTrace({ traceparent, tracestate: 'vendor=1' })
    assert.deepEqual(
      [trace.traceId, trace.parentId, trace.isSampled, trace.state],
      [TRACE, PARENT, isSampled, 'vendor=1'],
    )
    assert.notEqual(trace.spanId, PARENT)
  })

const INVALID = [
  '',
  'no-trace',
  `ff-${TRACE}-${PARENT}-01`,
  `00-${'0'.repeat(32)}-${PARENT}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${PARENT}-01`,
  `00-${TRACE.slice(1)}-${PARENT}-01`,
  `${TRACEPARENT}-more`,
  `${TRACEPARENT}, ${TRACEPARENT}`,
  `cc-${TRACE}-${PARENT}-01.what`,
  `00-${TRACE}-${PARENT}-1`,
]

for (const traceparent of INVALID)
  test(`an invalid traceparent is replaced, and its tracestate dropped: "${traceparent}"`, () => {
    const trace = receivedTrace({ traceparent, tracestate: 'vendor=1' })
    assert.match(trace.traceId, /^[0-9a-f]{32}$/)
    assert.notEqual(trace.traceId, TRACE)
    assert.deepEqual([trace.parentId, trace.state], [undefined, undefined])
  })

const STATES: readonly (readonly [given: string, kept: string | undefined])[] = [
  ['a=1', 'a=1'],
  ['a=1, ,b@c=2 ,', 'a=1,b@c=2'],
  ['A=1', undefined],
  ['a', undefined],
  ['a=1=2', undefined],
  ['', undefined],
  [
    Array.from({ length: 32 }, (_, each) => `k${each}=v`).join(),
    Array.from({ length: 32 }, (_, each) => `k${each}=v`).join(),
  ],
  [Array.from({ length: 33 }, (_, each) => `k${each}=v`).join(), undefined],
  [Array.from({ length: 200 }, (_, each) => `k${each}=v`).join(), undefined],
  [
    `a=${'x'.repeat(250)},b=${'y'.repeat(250)},c=${'z'.repeat(250)}`,
    `a=${'x'.repeat(250)},b=${'y'.repeat(250)}`,
  ],
]

for (const [given, kept] of STATES)
  test(`tracestate ${given.slice(0, 30)} (${given.length})`, () => {
    assert.equal(receivedTrace({ traceparent: TRACEPARENT, tracestate: given }).state, kept)
  })

test('a new trace has new ids, none of zeros', () => {
  const traces = Array.from({ length: 1_000 }, newTrace)
  assert.equal(new Set(traces.map(({ traceId }) => traceId)).size, 1_000)
  assert.ok(
    traces.every(({ traceId, spanId }) => /^[0-9a-f]{32}$/.test(traceId) && /^[0-9a-f]{16}$/.test(spanId)),
  )
})

test('work and what it awaits see their own trace, and a bound listener that of its origin', async () => {
  const one = newTrace()
  const two = newTrace()
  const seen = async () => {
    await Promise.resolve()
    return currentTrace()
  }
  assert.deepEqual(await Promise.all([runInTrace(one, seen), runInTrace(two, seen)]), [one, two])
  let heard: unknown
  const listener = runInTrace(one, () => bindTrace(() => (heard = currentTrace())))
  runInTrace(two, listener)
  assert.equal(heard, one)
  const work = runInTrace(one, () => bindWork((value: number) => [value, currentTrace()]))
  assert.deepEqual(
    runInTrace(two, () => work(7)),
    [7, one],
  )
  assert.equal(currentTrace(), undefined)
})

test('work that belongs to no trace stays outside of the one in which it is run', () => {
  const work = bindWork(() => currentTrace())
  let heard: unknown = 'nothing'
  const listener = bindTrace(() => (heard = currentTrace()))
  const seen = runInTrace(newTrace(), () => {
    listener()
    return work(undefined)
  })
  assert.deepEqual([seen, heard], [undefined, undefined])
})

test('a row, a call and a program get the trace; without one they get nothing', () => {
  const trace = receivedTrace({ traceparent: TRACEPARENT, tracestate: 'a=1,b="2"' })
  const traceparent = `00-${TRACE}-${trace.spanId}-01`
  const stored = storedTrace(trace)
  assert.equal(stored, `${traceparent} a=1,b="2"`)
  assert.deepEqual(storedTraceHeaders(stored), { traceparent, tracestate: 'a=1,b="2"' })
  assert.deepEqual(runInTrace(trace, traceHeaders), { traceparent, tracestate: 'a=1,b="2"' })
  assert.deepEqual(runInTrace(trace, traceEnvironment), { TRACEPARENT: traceparent, TRACESTATE: 'a=1,b="2"' })
  const { traceId, parentId, state } = continuedTrace(stored)
  assert.deepEqual([traceId, parentId, state], [TRACE, trace.spanId, 'a=1,b="2"'])
  assert.deepEqual(
    [storedTrace(), traceHeaders(), traceEnvironment(), storedTraceHeaders(null)],
    [null, {}, {}, {}],
  )
  assert.equal(continuedTrace(null).parentId, undefined)
})

test('an event carries its trace, and its data are not taken for one', () => {
  const attributes = { id: 'e', source: '/s', type: 't', subject: '","traceparent":"x', time: 'now' }
  const headers = { traceparent: TRACEPARENT, tracestate: 'a="\\,data' }
  const data = '{"a":1,"traceparent":"no"}'
  const event = toCloudEvent(attributes, data, headers)
  assert.deepEqual(traceHeadersOfEvent(event), headers)
  assert.deepEqual(JSON.parse(event).data, JSON.parse(data))
  assert.equal(attributesOf(event).subject, attributes.subject)
  assert.deepEqual(traceHeadersOfEvent(toCloudEvent(attributes, data, {})), {})
})
