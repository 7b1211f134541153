import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Place } from './document.ts'
import { addressOf, assertRefused, openApi, type Api } from './client.ts'
import type { Answer, ErrorAnswer } from './traffic.ts'
import { EXPECTED_ACCESS } from './expected-access.ts'
import { headerSets, type HeaderSet, type Outcome } from './header-sets.ts'
import { exchange } from './raw-socket.ts'
import { sampleOf, toRequest } from './samples.ts'
import { logInFirstAdmin, signIn, type SignedIn } from './tokens.ts'

const trusting = await openApi()
after(() => trusting[Symbol.asyncDispose]())
// A network that no peer of a test is in.
const untrusting = await openApi({ TRUSTED_PROXIES: '203.0.113.0/24' })
after(() => untrusting[Symbol.asyncDispose]())

const outcomeAt = (api: Api, set: HeaderSet): Outcome =>
  api === trusting ? set.fromTrustedPeer : (set.fromAnyone ?? { caller: 'nobody' })

/** A logout would end the token of the other calls. */
const leavesToken = ({ operation }: Place) => operation.operationId !== 'logout'

/** Whose user is meant is judged after the body: a password that lacks only variety, and a token for nobody. */
const LACKING: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  setPassword: { password: 'a'.repeat(12) },
  createApiToken: { name: 'x' },
}

suite('from a trusted peer', trusting, await signIn(trusting, ['auditor']))
suite('from any other peer', untrusting, await auditorOf(untrusting))

function suite(where: string, api: Api, auditor: SignedIn): void {
  describe(where, () => {
    for (const set of headerSets(auditor)) {
      const outcome = outcomeAt(api, set)
      test(`${set.name}: ${inWords(outcome)}`, async () => {
        await assertCaller(api, set, outcome)
        await Promise.all(
          api.places
            .filter(leavesToken)
            .map(async (place) => assertRights(place, await call(api, place, set), outcome)),
        )
      })
    }
  })
}

function inWords(outcome: Outcome): string {
  if (outcome.caller !== 'known') return outcome.caller
  return `known, with ${outcome.roles.length > 0 ? outcome.roles.join(' and ') : 'no role'}`
}

async function assertCaller(api: Api, { headers }: HeaderSet, outcome: Outcome): Promise<void> {
  const answer = await api.send({ method: 'GET', path: '/auth/me', headers })
  if (outcome.caller !== 'known') return assertNotAdmitted(answer, outcome)
  const { id, roles } = answer.json() as { id: string; roles: string[] }
  assert.deepEqual({ id, roles }, { id: outcome.id, roles: outcome.roles })
}

/** A call that is judged by who sends it, and then for what it lacks: it costs nothing, and changes nothing. */
function call(api: Api, place: Place, { headers }: HeaderSet): Promise<Answer> {
  const { body, ...sample } = sampleOf(place)
  if (!body) return api.send({ ...toRequest(place, sample), headers })
  const lacking = LACKING[place.operation.operationId] ?? {}
  const type = { 'content-type': 'application/json' }
  return api.send({ ...toRequest(place, { ...sample, body: lacking }), headers: { ...type, ...headers } })
}

function assertRights(place: Place, answer: Answer, outcome: Outcome): void {
  const expected = EXPECTED_ACCESS[`${place.method} ${place.path}`]
  const what = `${place.method} ${place.path} → ${answer.status} ${answer.text}`
  if (expected === 'public')
    return assert.ok(!['unauthenticated', 'forbidden'].includes(codeOf(answer)), what)
  if (outcome.caller !== 'known') return assertNotAdmitted(answer, outcome, what)
  const mayCall = expected === 'known' || outcome.roles.some((role) => expected?.includes(role))
  if (mayCall) assert.ok(!['unauthenticated', 'forbidden'].includes(codeOf(answer)), what)
  else assertRefused(answer, 403, 'forbidden', undefined, what)
}

function assertNotAdmitted(answer: Answer, outcome: Exclude<Outcome, { caller: 'known' }>, what = ''): void {
  if (outcome.caller === 'malformed')
    return assertRefused(answer, 400, 'validation_failed', outcome.header, what)
  assertRefused(answer, 401, 'unauthenticated', undefined, what)
  assert.match(String(answer.headers['www-authenticate']), /^Bearer( error="invalid_token")?$/, what)
}

function codeOf(answer: Answer): string {
  return answer.status < 400 ? '' : (answer.json() as ErrorAnswer).code
}

/** An auditor on a platform where no headers make an admin. */
async function auditorOf(api: Api): Promise<SignedIn> {
  const admin = await logInFirstAdmin(api)
  return signIn(api, ['auditor'], { authorization: `Bearer ${admin.token}` })
}

const HOST_AND_ADMIN = 'Host: 127.0.0.1\r\nX-User-ID: tool\r\nX-User-Roles: admin\r\n'

test('a proxy’s header counts however many others stand before it', async () => {
  for (const count of [
    10, 500, 900, 990, 995, 996, 997, 998, 999, 1_000, 1_001, 1_500, 1_999, 2_000, 2_001, 2_500,
  ]) {
    const headers = `${HOST_AND_ADMIN}${'a:\r\n'.repeat(count)}X-Forwarded-For: 192.0.2.1\r\nConnection: close\r\n`
    const [answer] = await exchange(trusting.platform.url, `GET /users HTTP/1.1\r\n${headers}\r\n`)
    assert.ok([401, 431].includes(answer?.status ?? 0), `${answer?.status} behind ${count} headers`)
  }
})

test('a header in the trailer of a body is ignored', async () => {
  const body = '2\r\n{}\r\n0\r\nX-User-ID: tool\r\nX-User-Roles: admin\r\n\r\n'
  const headers = 'Host: 127.0.0.1\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n'
  const [answer] = await exchange(
    trusting.platform.url,
    `POST /orders HTTP/1.1\r\n${headers}Trailer: X-User-ID, X-User-Roles\r\nConnection: close\r\n\r\n${body}`,
  )
  assert.equal(answer?.status, 401)
})

test('an empty Host is no address', async () => {
  const headers = HOST_AND_ADMIN.replace('127.0.0.1', '')
  const [answer] = await exchange(
    trusting.platform.url,
    `GET /users HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`,
  )
  assert.equal(answer?.status, 401)
})

test('an IPv4 address in IPv6 notation is trusted like the IPv4 address', async () => {
  await using api = await openApi({ LISTEN_ADDR: '[::]:0', TRUSTED_PROXIES: '127.0.0.0/8' })
  const { port } = addressOf(api.platform.url)
  const request = `GET /users HTTP/1.1\r\n${HOST_AND_ADMIN}Connection: close\r\n\r\n`
  const [overIPv4] = await exchange(`http://127.0.0.1:${port}`, request)
  assert.equal(overIPv4?.status, 200, 'the peer ::ffff:127.0.0.1 is 127.0.0.1')
})
