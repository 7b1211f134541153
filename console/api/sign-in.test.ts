import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UNEXPLAINED, UNREACHABLE, type ApiFailure } from './operations.ts'
import { signIn, type SignInRefusal } from './sign-in.ts'

const answering =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  async () =>
    new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers })

test('a good name and password become a token', async () => {
  const sent: { path: string; init: RequestInit }[] = []
  const result = await signIn(
    async (path, init) => {
      sent.push({ path, init })
      return Response.json({ access_token: 'abc', token_type: 'Bearer' })
    },
    'ada',
    'secret',
  )
  assert.deepEqual(result, { kind: 'signed_in', token: 'abc' })
  assert.equal(sent[0]?.path, '/auth/login')
  assert.deepEqual(await new Response(sent[0].init.body ?? null).json(), {
    username: 'ada',
    password: 'secret',
  })
})

const other = (failure: Partial<ApiFailure>): SignInRefusal => ({
  code: 'other',
  failure: { ...UNREACHABLE, code: UNEXPLAINED, ...failure },
})

const REFUSALS = [
  {
    what: 'a wrong password',
    fetch: answering(401, { code: 'invalid_credentials', message: 'x' }),
    refusal: { code: 'wrong_credentials' },
  },
  {
    what: 'too many attempts',
    fetch: answering(429, {}, { 'retry-after': '17' }),
    refusal: { code: 'throttled', seconds: 17 },
  },
  {
    what: 'too many attempts without a time',
    fetch: answering(429, {}),
    refusal: { code: 'throttled', seconds: 60 },
  },
  {
    what: 'a failure with a message',
    fetch: answering(503, { code: 'store_unavailable', message: 'The api is away.' }),
    refusal: other({ status: 503, code: 'store_unavailable', message: 'The api is away.' }),
  },
  {
    what: 'the page of a proxy',
    fetch: answering(502, '<html>'),
    refusal: other({ status: 502, message: 'The server answered with status 502.' }),
  },
  {
    what: 'an answer without a token',
    fetch: answering(200, {}),
    refusal: other({ status: 200, message: 'The server answered with status 200.' }),
  },
  {
    what: 'no connection',
    fetch: () => Promise.reject(new TypeError('failed')),
    refusal: other(UNREACHABLE),
  },
]

for (const { what, fetch, refusal } of REFUSALS) {
  test(`the refusal says what is wrong: ${what}`, async () => {
    assert.deepEqual(await signIn(fetch, 'ada', 'secret'), { kind: 'refused', refusal })
  })
}
