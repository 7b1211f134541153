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

// Whoever follows an address out of a token connects here.
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

/** The same on a connection of its own: what a client of HTTP would not send. */
const presentRaw = (bearer: string): Promise<RawAnswer[]> =>
  exchange(
    api.platform.url,
    `GET /users?limit=1 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${bearer}\r\nConnection: close\r\n\r\n`,
  )

test('what the platform signed, and what is signed as it does, is accepted', async () => {
  assert.equal((await present(token)).status, 200)
  assert.equal((await present(sign(claims, secret))).status, 200)
  assert.equal((await present(sign({ ...claims, filler: 'x'.repeat(5_000) }, secret))).status, 200, 'of 7 KB')
})

describe('a forged token is 401, and its sender is not told why', () => {
  const messages = new Set<string>()
  for (const [name, forged] of forgedTokens(forging)) {
    test(name, async () => {
      const answer = await present(forged)
      assertRefused(answer, 401, 'unauthenticated', undefined, name)
      assert.equal(answer.headers['www-authenticate'], 'Bearer')
      messages.add((answer.json() as { message: string }).message)
    })
  }

  test('but for one that has ended', () => {
    assert.ok(messages.size <= 4, [...messages].join(' | '))
  })
})

test('a token that is too large is refused, whatever its size', async () => {
  for (const [size, large] of largeTokens(forging)) {
    // A server that has read enough cuts the connection, perhaps before its answer is read.
    const answers = await presentRaw(large).catch(() => [])
    for (const { status } of answers) assert.ok([401, 431].includes(status), `${size} bytes → ${status}`)
    if (size < 16_384) assert.equal(answers[0]?.status, size < 12_000 ? 401 : 431, `${size} bytes`)
  }
})

test(`of ${FLIPS} good tokens with one bit flipped none is accepted`, async (t) => {
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

test('nobody followed an address out of a token, nothing failed, and the good token is still good', async () => {
  assert.equal(visits, 0)
  assert.equal((await present(token)).status, 200)
  assert.deepEqual(
    api.platform.logs().filter(({ level }) => level === 'error'),
    [],
  )
})
