import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CLIENT_ID, form, startTestProvider } from '../../test/support/mock-oidc.ts'
import { sendBytes } from '../../test/support/send-bytes.ts'

const TYPES = ['application/json', 'application/x-www-form-urlencoded', 'text/plain']

// Random bytes seldom get past the first character of a parser, so most bodies begin correctly.
const body = fc.oneof(
  fc.uint8Array({ maxLength: 2_000 }),
  fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
  fc.json().map((text) => Buffer.from(text)),
  fc
    .dictionary(
      fc.constantFrom('grant_type', 'code', 'client_id', '__proto__', 'constructor'),
      fc.jsonValue(),
    )
    .map((value) => Buffer.from(JSON.stringify(value))),
  fc.tuple(fc.uint8Array({ maxLength: 200 }), fc.nat({ max: 80 })).map(([bytes, at]) => {
    const whole = Buffer.from(form({ grant_type: 'authorization_code', code: 'x', client_id: CLIENT_ID }))
    return Buffer.concat([whole.subarray(0, at), bytes, whole.subarray(at)])
  }),
)

test('any body gets a 4xx status with an error name', async () => {
  await using provider = await startTestProvider()
  await fc.assert(
    fc.asyncProperty(body, fc.constantFrom(...TYPES), async (bytes, type) => {
      const answer = await provider.request('POST', '/token', {
        headers: { 'content-type': type },
        body: bytes,
      })
      assert.ok(answer.status >= 400 && answer.status < 500, String(answer.status))
      assert.equal(typeof answer.json()['error'], 'string')
    }),
    { numRuns: 500 },
  )
})

test('any query of /authorize gets a redirect to a valid URL, or 400', async () => {
  await using provider = await startTestProvider()
  const name = fc.constantFrom(
    'redirect_uri',
    'state',
    'scope',
    'client_id',
    'response_type',
    'nonce',
    'x',
    '',
  )
  const raw = fc
    .string({ unit: fc.constantFrom(...'% & = + ? / : # [ ] { } " < > \\ ; a b 0 F é'.split(' ')) })
    .map((text) => encodeURI(text))
  const encoded = fc.string({ unit: 'binary' }).map((text) => encodeURIComponent(text.toWellFormed()))
  const parameter = fc.tuple(name, fc.oneof(encoded, raw)).map(([key, value]) => `${key}=${value}`)
  const redirectUri = fc
    .string({ unit: 'binary', maxLength: 3 })
    .map((hostStart) => `redirect_uri=${encodeURIComponent(`http://${hostStart.toWellFormed()}foo/cb`)}`)
  const pair = fc.oneof({ weight: 3, arbitrary: parameter }, { weight: 1, arbitrary: redirectUri })
  await fc.assert(
    fc.asyncProperty(fc.array(pair, { maxLength: 6 }), async (pairs) => {
      const query = pairs.join('&').replaceAll('#', '%23')
      const answer = await provider.request('GET', `/authorize?${query}`)
      assert.ok([302, 400].includes(answer.status), String(answer.status))
      if (answer.status === 302) assert.ok(URL.canParse(answer.headers.location ?? ''))
    }),
    { numRuns: 500 },
  )
})

test('the provider goes on after any bytes on a connection', async () => {
  await using provider = await startTestProvider()
  const start = fc.constantFrom(
    '',
    'POST /token HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nContent-Type: application/json\r\n\r\n',
    'POST /token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
    'GET /userinfo HTTP/1.1\r\nHost: a\r\nAuthorization: ',
    'GET /authorize?state=',
    'FOO /token HTTP/1.1\r\n\r\n',
  )
  await fc.assert(
    fc.asyncProperty(start, fc.uint8Array({ maxLength: 300 }), async (head, bytes) => {
      const answers = await sendBytes(provider.port, Buffer.concat([Buffer.from(head), bytes]))
      assert.doesNotMatch(answers, /^HTTP\/1\.1 5/m)
      assert.equal((await provider.request('GET', '/authorize')).status, 302)
    }),
    { numRuns: 200 },
  )
})
