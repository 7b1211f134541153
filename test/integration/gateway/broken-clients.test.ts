import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { breakClients, clientFaults } from '../../support/broken-clients.ts'
import { eventually } from '../../support/eventually.ts'
import { exchange } from '../http/raw-socket.ts'
import { openWorld } from './world.ts'

test('a hundred broken clients of a gateway are counted, and none of them is an error', async (t) => {
  const world = await openWorld(t)
  const headers = `Host: localhost\r\nAuthorization: Bearer ${await world.token()}\r\n`
  await breakClients(world.url, headers)
  await eventually('all are counted', async () => clientFaults(await world.metrics()) >= 48)
  assert.deepEqual(
    world.logged.filter(({ level }) => level === 'error' || level === 'warn'),
    [],
  )
})

test('an exchange whose client has left is logged with its own outcome', async (t) => {
  const world = await openWorld(t)
  const reached = Promise.withResolvers<void>()
  world.api.reply = () => reached.resolve()
  const { hostname, port } = new URL(world.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(
    `GET /orders HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${await world.token()}\r\n\r\n`,
  )
  await reached.promise
  socket.destroy()
  const line = await eventually('its line', () => world.logged.find(({ message }) => message === 'request'))
  assert.deepEqual([line.level, line['status']], ['info', 499])
  await eventually('the exchange has ended', async () => (await world.api.connections()) === 0)
  assert.ok(world.logged.every(({ level }) => level === 'info' || level === 'debug'))
})

test('requests are answered before a session that is refused', async (t) => {
  const world = await openWorld(t)
  const upgrade =
    'GET /vpn HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n'
  const get = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const answers = await exchange(world.url, `${get.repeat(20)}${upgrade}`)
  assert.deepEqual(
    answers.map(({ status }) => status),
    [...Array<number>(20).fill(200), 401],
  )
})
