import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { sendJson } from './api-double.ts'
import { openSession, PATIENT, type GatewaySocket } from './socket.ts'
import { openWorld } from './world.ts'

const MIB = 1_048_576
const LARGE_BYTES = 900_000
const IN_FLIGHT = 20

async function openWithLargeAnswers(t: TestContext, maxOutgoingBytes: number) {
  const world = await openWorld(t, { maxOutgoingBytes })
  const text = JSON.stringify('x'.repeat(LARGE_BYTES - 2))
  world.api.reply = ({ url }, response) => {
    if (url === '/small') return sendJson(response, 200, {})
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length }).end(text)
  }
  return world
}

/** A client that asks for more than the kernel buffers, and reads nothing. */
async function openSlowReader({ url, token }: Awaited<ReturnType<typeof openWorld>>): Promise<GatewaySocket> {
  const session = await openSession(url, { token: await token() })
  session.socket.pause()
  for (let id = 0; id < IN_FLIGHT; id++) session.send({ type: 'request', id, method: 'GET', path: '/large' })
  return session
}

test('clients that do not read are closed when others need the memory, and those are served', async (t) => {
  // Room for one answer: whatever a slow reader holds, everybody else waits for.
  const world = await openWithLargeAnswers(t, MIB / 2)
  const reader = await openSession(world.url, { token: await world.token({ user: 'eve' }) })
  const slow = await openSlowReader(world)
  await eventually('the requests at the api', () => world.api.seen.length === IN_FLIGHT, PATIENT)
  reader.send({ type: 'request', id: 'mine', method: 'GET', path: '/small' })
  await reader.frame('response', { id: 'mine' })
  await eventually('the end of the slow session', () => world.registry.live.size === 1, PATIENT)
  assert.deepEqual(
    world.registry.ends.map(({ code }) => code),
    [4429],
  )
  slow.socket.terminate()
})

test('the bytes held for all clients stay below the limit', async (t) => {
  const limit = 4 * MIB
  const world = await openWithLargeAnswers(t, limit)
  const slow = await Promise.all(Array.from({ length: 12 }, () => openSlowReader(world)))
  let most = 0
  await eventually(
    'the end of the slow sessions',
    async () => {
      most = Math.max(most, Number(/^platform_vpn_outgoing_bytes (\d+)$/m.exec(await world.metrics())?.[1]))
      return world.registry.live.size === 0
    },
    PATIENT,
  )
  assert.ok(most > MIB && most <= limit + MIB, `${most} bytes`)
  assert.ok(world.registry.ends.every(({ code }) => code === 4429))
  for (const { socket } of slow) socket.terminate()
  await eventually(
    'every byte to be released',
    async () => /^platform_vpn_outgoing_bytes 0$/m.test(await world.metrics()),
    PATIENT,
  )
})

test('many large answers reach a client that reads', async (t) => {
  const world = await openWithLargeAnswers(t, MIB)
  const session = await openSession(world.url, { token: await world.token() })
  for (let id = 0; id < IN_FLIGHT; id++) session.send({ type: 'request', id, method: 'GET', path: '/large' })
  await eventually(
    'all answers',
    () => session.frames.filter(({ type }) => type === 'response').length === IN_FLIGHT,
    PATIENT,
  )
  await eventually(
    'every byte to be released',
    async () => /^platform_vpn_outgoing_bytes 0$/m.test(await world.metrics()),
    PATIENT,
  )
})
