import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type LookupFunction } from 'node:net'
import { test } from 'node:test'
import { eventually } from '../../test/support/eventually.ts'
import { extendConnectionAttempts } from './connection-attempts.ts'

const BACKLOG = 1
const SERVE = `
  const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: ${BACKLOG} })
  server.once('listening', () => console.log(server.address().port))`
const SYN_SENT = '02'

/** A server that drops the first packet of each connection until `accept`: its queue is full, and it does not run. */
async function startDroppingServer() {
  const server = spawn(process.execPath, ['-e', SERVE], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(server.stdout, 'data')) as [Buffer]
  const port = Number(line)
  server.kill('SIGSTOP')
  // Linux takes one more than the backlog.
  const queued = Array.from({ length: BACKLOG + 1 }, () => connect(port, '127.0.0.1'))
  await Promise.all(queued.map((socket) => once(socket, 'connect')))
  return {
    port,
    accept: () => server.kill('SIGCONT'),
    async [Symbol.asyncDispose]() {
      queued.forEach((socket) => socket.destroy())
      server.kill('SIGKILL')
      await once(server, 'close')
    },
  }
}

function isConnecting(port: number): boolean {
  const remote = new RegExp(`:${port.toString(16).toUpperCase().padStart(4, '0')} ${SYN_SENT} `)
  return remote.test(readFileSync('/proc/net/tcp', 'utf8'))
}

test('a server whose first packet is lost is reached, although its other address cannot be', async () => {
  extendConnectionAttempts()
  await using server = await startDroppingServer()
  const lookup: LookupFunction = (_name, _options, answer) =>
    answer(null, [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ])
  const socket = connect({ host: 'far.example', port: server.port, lookup })
  const connected = once(socket, 'connect')
  await eventually('the first packet is sent', () => isConnecting(server.port))
  server.accept()
  await connected
  assert.equal(socket.remoteAddress, '127.0.0.1')
  socket.destroy()
})
