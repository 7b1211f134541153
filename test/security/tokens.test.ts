import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import { assertRefused, openApi } from '../integration/http/client.ts'
import { exchange, type RawAnswer } from '../integration/http/raw-socket.ts'
import { signIn } from '../integration/http/tokens.ts'
import { chanceOf } from '../support/random.ts'
import { forgedTokens, largeTokens, sign, type Claims } from './forged-tokens.ts'

const FLIPS = Number(process.env['TOKEN_FLIPS'] ?? 1_000)
const AT_ONCE = 20

const secret = randomBytes(48).toString('base64url')
const api = await openApi({ JWT_SECRET: secret })
after(() => api[Symbol.asyncDispose]())

// The address in forged tokens: a connection shows that the platform followed it.
let visits = 0
const trap = createServer((socket) => {
  visits++
  socket.destroy()
}).listen(0, '127.0.0.1')
await once(trap, 'listening')
after(() => trap.close())

const { token } = await signIn(api, ['admin'])
const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Claims
const forging = { secret, claims, trap: `http://127.0.0.1:${(trap.address() as AddressInfo).port}` }

const present = (bearer: string) =>
  api.send({ method: 'GET', path: '/users?limit=1', headers: { authorization: `Bearer ${bearer}` } })

/** On a connection of its own, because an HTTP client refuses to send such headers. */
const presentRaw = (bearer: string): Promise<RawAnswer[]> =>
  exchange(
    api.platform.url,
    `GET /users?limit=1 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${bearer}\r\nConnection: close\r\n\r\n`,
  )

test('tokens that the platform signed, or another program with its key, are accepted', async () => {
  assert.equal((await present(token)).status, 200)
  assert.equal((await present(sign(claims, secret))).status, 200)
  assert.equal((await present(sign({ ...claims, filler: 'x'.repeat(5_000) }, secret))).status, 200, 'of 7 KB')
})

describe('a forged token is 401, and the message does not say why', () => {
  const messages = new Set<string>()
  for (const [name, forged] of forgedTokens(forging)) {
    test(name, async () => {
      const answer = await present(forged)
      assertRefused(answer, 401, 'unauthenticated', undefined, name)
      assert.match(
        String(answer.headers['www-authenticate']),
        /^Bearer( error="invalid_token"(, error_description="(expired|revoked)")?)?$/,
      )
      messages.add((answer.json() as { message: string }).message)
    })
  }

  test('except that an expired one is called expired', () => {
    assert.ok(messages.size <= 4, [...messages].join(' | '))
  })
})

test('a token over 8 KiB is refused at every size', async () => {
  for (const [size, large] of largeTokens(forging)) {
    // The server may close the connection before its answer was read.
    const answers = await presentRaw(large).catch(() => [])
    for (const { status } of answers) assert.ok([401, 431].includes(status), `${size} bytes → ${status}`)
    if (size < 16_384) assert.equal(answers[0]?.status, size < 12_000 ? 401 : 431, `${size} bytes`)
  }
})

test(`none of ${FLIPS} tokens with one flipped bit is accepted`, async (t) => {
  const chance = chanceOf(t)
  const statuses = new Map<number, number>()
  const flip = async () => {
    const bytes = Buffer.from(token)
    const at = chance.between(0, bytes.length - 1)
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << chance.between(0, 7)), at)
    const answers = await presentRaw(bytes.toString('latin1'))
    const what = `byte ${at} as ${bytes[at]}: ${answers.map(({ status }) => status).join(', ')}`
    assert.ok(answers.length > 0 && answers.every(({ status }) => [400, 401].includes(status)), what)
    for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  for (let done = 0; done < FLIPS; done += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, FLIPS - done) }, flip))
  t.diagnostic(JSON.stringify(Object.fromEntries(statuses)))
})

test('no address in a token was followed, no error was logged, and the valid token is still accepted', async () => {
  assert.equal(visits, 0)
  assert.equal((await present(token)).status, 200)
  assert.deepEqual(
    api.platform.logs().filter(({ level }) => level === 'error'),
    [],
  )
})
