import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { ADMIN, assertRefused, openApi } from '../integration/http/client.ts'
import type { Place } from '../integration/http/document.ts'
import type { ErrorAnswer } from '../integration/http/traffic.ts'

const api = await openApi()
after(() => api[Symbol.asyncDispose]())

const MIB = 1_048_576
const DIGITS = '9'.repeat(100_000)
const LONG = 'x'.repeat(256 * 1_024)
const many = (count: number, each: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => each(index))

/** Small to send and expensive for a careless parser; all but the last ones are below the size limit. */
const BOMBS: Readonly<Record<string, string>> = {
  'lists in lists': '['.repeat(120_000) + ']'.repeat(120_000),
  'lists that never end': '['.repeat(500_000),
  'objects in objects': '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000),
  'objects that never end': '{"a":'.repeat(200_000),
  'a field that is deep': `{"payload":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  'very many fields': `{${many(14_000, (index) => `"field_${index}":${index}`).join()}}`,
  'one field very often': `{${many(60_000, () => '"a":1').join()}}`,
  'fields whose names are numbers': `{${many(60_000, (index) => `"${index}":1`).join()}}`,
  'very many empty lists': `{"a":[${many(300_000, () => '[]').join()}]}`,
  'a long text': `{"${LONG}":"${LONG}"}`,
  'a text of escapes': `{"a":"${'\\u0000'.repeat(150_000)}"}`,
  'a text of backslashes': `{"a":"${'\\\\'.repeat(400_000)}"}`,
  'a text of quotes': `{"a":"${'\\"'.repeat(400_000)}"}`,
  'a number of 100,000 digits': `{"amount_cents":${DIGITS},"level":${DIGITS}}`,
  'a fraction of 100,000 digits': `{"amount_cents":0.${DIGITS}}`,
  'an exponent of 100,000 digits': `{"amount_cents":1e${DIGITS}}`,
  'many numbers without a double': `{"a":[${many(100_000, () => '1e999').join()}]}`,
  'a megabyte of spaces': ' '.repeat(MIB),
  'a word that begins well': `{"a":tru${'e'.repeat(500_000)}`,
  'more than a megabyte': `{"a":"${'x'.repeat(MIB)}"}`,
}

const nameOf = ({ method, path }: Place) => `${method} ${path}`

// An operation that takes bytes of any type reads no JSON.
const takesBytes = ({ operation }: Place) => operation.requestBody?.content?.['*/*'] !== undefined

for (const place of api.places.filter((each) => each.method !== 'GET' && !takesBytes(each))) {
  describe(nameOf(place), () => {
    test('refuses every bomb as what it is', async () => {
      for (const [name, body] of Object.entries(BOMBS)) {
        const path = place.path.replace(/\{[^}]+\}/g, 'x')
        const headers = { ...ADMIN, 'content-type': 'application/json' }
        const answer = await api.send({ method: place.method, path, body, headers })
        const what = `${name} → ${answer.status} ${answer.text.slice(0, 200)}`
        assert.ok([400, 413].includes(answer.status), what)
        assert.match(
          (answer.json() as ErrorAnswer).code,
          /^(malformed_json|validation_failed|payload_too_large)$/,
          what,
        )
        assert.ok(answer.text.length < 20_000, `the answer has ${answer.text.length} characters: ${what}`)
      }
    })
  })
}

test('what a payload may hold comes through, however odd', async () => {
  for (const payload of [
    LONG,
    many(50_000, () => '').fill('{}'),
    Object.fromEntries(many(14_000, String).map((name) => [name, 1])),
  ]) {
    const body = { subject: 'shop.opened', payload }
    const answer = await api.send({ method: 'POST', path: '/messages/publish', body })
    assert.equal(answer.status, 202, answer.text.slice(0, 200))
    assert.deepEqual((answer.json() as { payload: unknown }).payload, payload)
  }
})

test('an object of a body has at most 20,000 members, which are counted before it is parsed', async () => {
  const members = (count: number) => many(count, (index) => `"${index.toString(36)}x":0`).join()
  const publish = (payload: string) =>
    api.send({
      method: 'POST',
      path: '/messages/publish',
      body: `{"subject":"shop.opened","payload":${payload}}`,
      headers: { ...ADMIN, 'content-type': 'application/json' },
    })
  for (const payload of [`[{${members(20_000)}},{${members(20_000)}}]`, `{${members(20_000)}}`])
    assert.equal((await publish(payload)).status, 202, payload.slice(0, 20))
  const ended = `{${members(20_001)}}`
  for (const payload of [ended, `[{},{"a":${ended}}]`, ended.slice(0, -1)]) {
    const answer = await publish(payload)
    assertRefused(answer, 400, 'validation_failed', '')
    assert.match(answer.text, /"code":"too_many_fields"/)
  }
})

test('the platform is as well as before, and its log has kept its lines short', async () => {
  const health = await api.send({ method: 'GET', path: '/health', headers: {} })
  assert.equal((health.json() as { checks: { store: string } }).checks.store, 'ok')
  const logs = api.platform.logs()
  assert.deepEqual(
    logs.filter(({ level }) => level === 'error'),
    [],
  )
  for (const line of logs) assert.ok(JSON.stringify(line).length < 4_096, line.message)
})
