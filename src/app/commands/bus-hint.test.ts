import assert from 'node:assert/strict'
import { test } from 'node:test'
import { busHint, busRemedy } from './bus-hint.ts'

test('the hint names the configured port of a bus on this host', () => {
  assert.equal(busHint(['nats://127.0.0.1:4333']), 'nats-server -p 4333 -js')
  assert.equal(busHint(['nats://bus.example.com:1', 'nats://me:secret@localhost:2']), 'nats-server -p 2 -js')
  assert.equal(busHint(['nats://[::1]:3']), 'nats-server -p 3 -js')
})

test('there is no hint for a bus on another host, or with TLS', () => {
  assert.equal(busHint(['nats://bus.example.com:4222', 'nats://10.0.0.1:4222']), undefined)
  assert.equal(busHint(['tls://127.0.0.1:4222']), undefined)
})

test('the remedy follows from the reason, and a bus that runs is not to be started', () => {
  const remedyOf = (reason: string) => busRemedy(['nats://127.0.0.1:9996'], new Error(reason))
  assert.match(remedyOf('nats://127.0.0.1:9996 cannot be reached: ECONNREFUSED'), /^start it \(nats-server /)
  assert.match(remedyOf('certificate has expired'), /^renew the certificate of the bus/)
  assert.match(remedyOf('unable to verify the first certificate'), /NODE_EXTRA_CA_CERTS/)
  assert.match(remedyOf("'Authorization Violation'"), /^correct the login/)
  assert.match(remedyOf('nats://bus cannot be reached: ENOTFOUND'), /host name/)
})
