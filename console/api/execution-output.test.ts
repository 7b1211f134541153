import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExecutionOutput } from './execution-output.ts'

const part = (id: number, data: object) => `id: ${id}\nevent: output\ndata: ${JSON.stringify(data)}\n\n`
const END = 'id: 9\nevent: end\ndata: {"status":"succeeded"}\n\n'

/** An output that is read from these answers, one after the other; returns the places from which each one was asked. */
async function follow(answers: readonly Response[]) {
  const places: string[] = []
  const rest = [...answers]
  let news = 0
  const output = new ExecutionOutput({
    open: (place) => {
      places.push(place)
      return Promise.resolve(rest.shift() ?? Response.error())
    },
    wait: () => Promise.resolve(),
    onNews: () => news++,
  })
  await output.follow(new AbortController().signal)
  return { output, places, news }
}

test('a stream that breaks is resumed behind the last part, until the end', async () => {
  const { output, places, news } = await follow([
    new Response(part(5, { text: 'begin' })),
    new Response('', { status: 503 }),
    new Response(part(9, { text: ' end' }) + END),
  ])
  assert.equal(output.text.value, 'begin end')
  assert.deepEqual(places, ['', '5', '5'])
  assert.equal(news, 2)
  assert.equal(output.isCut.value, false)
})

test('output of which the begin is not kept is marked', async () => {
  const { output } = await follow([new Response(part(9, { text: 'end', skipped: 5 }) + END)])
  assert.deepEqual([output.text.value, output.isCut.value], ['end', true])
})

test('at most 64 Ki characters are kept', async () => {
  const text = 'x'.repeat(65_536)
  const { output } = await follow([new Response(part(1, { text }) + part(2, { text: 'end' }) + END)])
  assert.equal(output.text.value.length, 65_536)
  assert.ok(output.text.value.endsWith('xend'))
  assert.equal(output.isCut.value, true)
})

test('a refusal ends the following; too many requests only delay it', async () => {
  const limited = new Response('', { status: 429 })
  const { output, places } = await follow([limited, new Response('', { status: 404 })])
  assert.deepEqual([output.text.value, places.length], ['', 2])
})

test('a refused token ends the following', async () => {
  const { places } = await follow([new Response('', { status: 401 })])
  assert.equal(places.length, 1)
})
