import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { Type } from 'typebox'
import { createIdentify } from '../../../src/infra/http/identity.ts'
import { createHttpServer } from '../../../src/infra/http/server.ts'
import type { Identity } from '../../../src/kernel/identity.ts'
import { silentLogger } from '../../../src/kernel/logger.ts'
import { noMetrics } from '../../../src/kernel/metrics.ts'
import { ok, routeOf } from '../../../src/wire/route.ts'
import { eventually } from '../../support/eventually.ts'
import { scopeOf } from '../../support/scope.ts'
import { exchange } from '../http/raw-socket.ts'
import { openSession, PATIENT } from './socket.ts'
import { BROKEN_SPELLINGS, SPELLINGS, type Spelling } from './spellings.ts'
import { openWorld } from './world.ts'

const route = routeOf('Test')

const ALL = [...SPELLINGS, ...BROKEN_SPELLINGS]
const VALUE = 'spoofed-by-the-client'
const AT_ONCE = 8

test('there are at least 500 spellings', () => {
  assert.ok(new Set(SPELLINGS.map(({ name }) => name)).size >= 500)
})

/** Ways to put a header into a request. */
const PLACEMENTS: Readonly<Record<string, (name: string) => string>> = {
  once: (name) => `${name}: ${VALUE}\r\n`,
  'twice, and folded': (name) => `${name}: ${VALUE}\r\n${name}:\r\n ${VALUE}\r\n`,
  'twice, and named by Connection': (name) =>
    `${name}: ${VALUE}\r\n${name}: ${VALUE}\r\nConnection: ${name}\r\n`,
}

describe('no spelling of a header that only the gateway may set reaches the api', () => {
  for (const [placement, place] of Object.entries(PLACEMENTS)) {
    test(`when it stands there ${placement}`, async (t) => {
      const { url, token, api } = await openWorld(t)
      const authorization = `Authorization: Bearer ${await token()}\r\n`
      await forEach(ALL, async ({ name }) => {
        const headers = `Host: a\r\n${authorization}${place(name)}Connection: close\r\n`
        const [answer] = await exchange(url, `GET /orders HTTP/1.1\r\n${headers}\r\n`)
        assert.ok([200, 400].includes(answer?.status ?? 0), `${JSON.stringify(name)} → ${answer?.status}`)
      })
      assert.ok(
        placement !== 'once' || api.seen.length >= SPELLINGS.length,
        'they were passed on, without it',
      )
      for (const { rawHeaders, headers } of api.seen) {
        assert.equal(rawHeaders.join('\n').includes(VALUE), false, rawHeaders.join('\n'))
        assert.deepEqual([headers['x-user-id'], headers['x-user-roles']], ['id-of-ada', 'devops'])
      }
    })
  }

  test('when it stands in a request frame', async (t) => {
    const { url, token, api } = await openWorld(t)
    const session = await openSession(url, { token: await token() })
    for (const [id, { name }] of SPELLINGS.entries()) {
      session.send({ type: 'request', id, method: 'GET', path: '/orders', headers: { [name]: VALUE } })
      // No more than may be in flight.
      if (id % 20 === 19) await eventually('the answers', () => session.frames.length === id + 2, PATIENT)
    }
    await eventually('all answers', () => session.frames.length === SPELLINGS.length + 1, PATIENT)
    assert.equal(api.seen.length, SPELLINGS.length)
    for (const { rawHeaders } of api.seen) assert.equal(rawHeaders.join('\n').includes(VALUE), false)
  })

  test('when it stands in a login', async (t) => {
    const { url, api } = await openWorld(t)
    await forEach(SPELLINGS, async ({ name }) => {
      const headers = `Host: a\r\n${name}: ${VALUE}\r\nContent-Length: 0\r\nConnection: close\r\n`
      await exchange(url, `POST /auth/login HTTP/1.1\r\n${headers}\r\n`)
    })
    assert.equal(api.seen.length, SPELLINGS.length)
    for (const { rawHeaders, headers } of api.seen) {
      assert.equal(rawHeaders.join('\n').includes(VALUE), false, rawHeaders.join('\n'))
      assert.equal(headers['x-forwarded-for'], '127.0.0.1')
    }
  })
})

/** An api that says who it takes the caller for. */
async function openApi(t: TestContext, isTrusting: boolean): Promise<string> {
  const address = isTrusting ? '127.0.0.0' : '203.0.113.0'
  const server = await createHttpServer({
    routes: [
      route({
        method: 'GET',
        path: '/orders',
        operation: 'whoami',
        summary: 'Who is calling',
        access: 'authenticated',
        answers: { 200: { description: 'The caller.', schema: Type.Unknown() } },
        read: ({ identity }) => ok(identity),
      }),
    ],
    identify: createIdentify({
      authenticator: { authenticate: () => Promise.reject(new Error('no tokens here')) },
      trustedProxies: [{ address, prefixLength: 24, family: 'ipv4' }],
    }),
    logger: silentLogger,
    metrics: noMetrics,
    version: '0.0.0',
    readOnly: false,
    rateLimitPerMinute: 0,
  })
  scopeOf(t).defer(() => server.close())
  return `http://${await server.listen({ host: '127.0.0.1', port: 0 })}`
}

const KNOWN = 'X-User-ID: tool\r\nX-User-Roles: auditor\r\n'

describe('at the api itself', () => {
  test('no spelling makes anybody known who is not trusted', async (t) => {
    const url = await openApi(t, false)
    await forEach(ALL, async ({ name }) => {
      const headers = `Host: 127.0.0.1\r\n${KNOWN}${name}: admin\r\nConnection: close\r\n`
      const [answer] = await exchange(url, `GET /orders HTTP/1.1\r\n${headers}\r\n`)
      assert.ok([400, 401].includes(answer?.status ?? 0), `${JSON.stringify(name)} → ${answer?.status}`)
    })
  })

  test('no other spelling adds a right to those of a trusted peer', async (t) => {
    const url = await openApi(t, true)
    await forEach(ALL, async ({ name }) => {
      const headers = `Host: 127.0.0.1\r\n${KNOWN}${name}: admin\r\nConnection: close\r\n`
      const [answer] = await exchange(url, `GET /orders HTTP/1.1\r\n${headers}\r\n`)
      if (answer?.status !== 200) {
        return assert.ok(
          [400, 401].includes(answer?.status ?? 0),
          `${JSON.stringify(name)} → ${answer?.status}`,
        )
      }
      const { id, roles } = JSON.parse(answer.body) as Identity
      assert.deepEqual([id, roles], ['tool', ['auditor']], JSON.stringify(name))
    })
  })
})

/** A few at a time. */
async function forEach(spellings: readonly Spelling[], work: (spelling: Spelling) => Promise<unknown>) {
  const waiting = [...spellings]
  const worker = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) await work(next)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}
