import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { openEventStream } from '../../support/event-stream.ts'
import { MINUTE } from '../../../src/kernel/time.ts'
import type { Reply } from './api-double.ts'
import { openSession } from './socket.ts'
import { openWorld, type GatewayWorld } from './world.ts'

const EVENT = 'id: 1\nevent: order.paid\ndata: {}\n\n'

const reply: Reply = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(EVENT)
}

async function openPassedOn(world: GatewayWorld) {
  world.api.reply = reply
  const authorization = `Bearer ${await world.token({ ttlMs: MINUTE })}`
  const stream = await openEventStream(world.url, '/events', { headers: { authorization } })
  await stream.count(1)
  return stream
}

const untilApiIsLeft = ({ api }: GatewayWorld) =>
  eventually('no connection to the api', async () => (await api.connections()) === 0)

test('a stream through the gateway ends with the token of its caller', async (t) => {
  const world = await openWorld(t)
  using stream = await openPassedOn(world)
  assert.equal(stream.isOver, false)
  world.advance(2 * MINUTE)
  assert.equal(await stream.ended, EVENT)
  await untilApiIsLeft(world)
})

test('a stream through the gateway ends when the gateway stops', async (t) => {
  const world = await openWorld(t)
  using stream = await openPassedOn(world)
  await world.close()
  assert.equal(await stream.ended, EVENT)
})

test('a client that leaves its stream through the gateway ends it at the api', async (t) => {
  const world = await openWorld(t)
  const stream = await openPassedOn(world)
  stream[Symbol.dispose]()
  await untilApiIsLeft(world)
})

test('a frame of a session cannot hold a stream', async (t) => {
  const world = await openWorld(t)
  world.api.reply = reply
  const session = await openSession(world.url, { token: await world.token() })
  session.send({ type: 'request', id: 'a', method: 'GET', path: '/events' })
  assert.equal((await session.frame('error', { id: 'a' }))['code'], 'stream_in_session')
  await untilApiIsLeft(world)
})
