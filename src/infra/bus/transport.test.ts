import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { awaitGreeting, parseServer } from './transport.ts'

test('a server that is late is told from a name that is not resolved and an address that does not answer', async (t) => {
  const late = (server: string) => awaitGreeting(parseServer(server), AbortSignal.abort())
  await assert.rejects(
    late('nats://bus.example.net'),
    /^Error: the name bus\.example\.net is not resolved within/,
  )
  await assert.rejects(late('nats://127.0.0.1:1'), /^Error: no connection to nats:\/\/127\.0\.0\.1:1 within/)
  const silent = createServer().listen(0, '127.0.0.1')
  t.after(() => silent.close())
  await once(silent, 'listening')
  const stop = new AbortController()
  const { port } = silent.address() as AddressInfo
  const greeting = awaitGreeting(parseServer(`nats://127.0.0.1:${port}`), stop.signal)
  greeting.catch(() => undefined)
  await once(silent, 'connection')
  await nextTurn()
  await nextTurn()
  stop.abort()
  await assert.rejects(greeting, /^Error: no greeting from nats:\/\/127\.0\.0\.1:\d+ within/)
})
