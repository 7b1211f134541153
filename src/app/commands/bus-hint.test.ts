import assert from 'node:assert/strict'
import { test } from 'node:test'
import { busFault, busRemedy } from './bus-hint.ts'

test('the hint names the configured port of a bus on this host', () => {
  const start = (port: number, address = '127.0.0.1') =>
    `start it (nats-server -a ${address} -p ${port} -js -sd nats-data), or change bus.server`
  assert.equal(busRemedy(['nats://127.0.0.1:4333']), start(4_333))
  assert.equal(busRemedy(['nats://bus.example.com:1', 'nats://me:secret@localhost:2']), start(2))
  assert.equal(busRemedy(['nats://[::1]:3']), start(3, '::1'))
})

test('there is no command for a bus on another host, or with TLS', () => {
  for (const servers of [['nats://bus.example.com:4222', 'nats://10.0.0.1:4222'], ['tls://127.0.0.1:4222']])
    assert.equal(busRemedy(servers), 'start it, or change bus.server')
})

test('the remedy follows from the reason, and a bus that runs is not to be started', () => {
  const remedyOf = (reason: string) => busRemedy(['nats://127.0.0.1:9996'], reason)
  assert.match(remedyOf('nats://127.0.0.1:9996 cannot be reached: ECONNREFUSED'), /^start it \(nats-server /)
  assert.match(remedyOf('certificate has expired'), /^renew the certificate of the bus/)
  assert.match(remedyOf('unable to verify the first certificate'), /NODE_EXTRA_CA_CERTS/)
  assert.match(remedyOf("'Authorization Violation'"), /^correct the login/)
  assert.match(
    remedyOf('no greeting from nats://127.0.0.1:8222 within 3 s'),
    /restart NATS if it hangs; .* correct the port/,
  )
  assert.match(remedyOf('nats://bus cannot be reached: ENOTFOUND'), /host name/)
  assert.match(remedyOf('the name bus is not resolved within 3 s'), /host name/)
  assert.match(remedyOf('no connection to nats://10.0.0.1:4222 within 3 s'), /firewall/)
})

test('a finding about the bus has a code for each remedy, so that programs need not read the reason', () => {
  const codeOf = (server: string, reason: string) => busFault([server], reason)[0]
  assert.equal(codeOf('nats://127.0.0.1:1', 'ECONNREFUSED'), 'bus_stopped')
  assert.equal(codeOf('nats://bus.example.com:1', 'ECONNREFUSED'), 'bus_unreachable')
  assert.equal(codeOf('nats://127.0.0.1:1', "'Authorization Violation'"), 'bus_login_refused')
  assert.equal(codeOf('nats://127.0.0.1:1', 'certificate has expired'), 'bus_certificate_refused')
})
