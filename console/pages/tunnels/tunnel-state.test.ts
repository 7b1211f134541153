import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AT, sessionItem, tunnelsAnswer } from '../../../test/support/tunnels-sample.ts'
import { parseTunnelState } from './tunnel-state.ts'

const ANSWER = tunnelsAnswer([sessionItem({ virtual_ip: '100.64.0.2', device: null, rtt_ms: null })])

test('an answer is read into the words of the page', () => {
  const state = parseTunnelState(ANSWER)
  assert.equal(state.at, AT)
  assert.deepEqual(state.sessions[0], {
    id: 'session-100.64.0.2',
    user: { id: 'ada', name: 'ada' },
    device: null,
    virtualIp: '100.64.0.2',
    gateway: 'primary',
    remoteAddress: '192.0.2.7',
    connectedAt: AT - 3_600_000,
    lastSeenAt: AT - 4_000,
    rttMs: null,
  })
  assert.deepEqual(state.gateways[0], {
    name: 'primary',
    address: '10.0.0.5:9700',
    heartbeatMs: 30_000,
    lastSeenAt: AT - 1_000,
    isAlive: true,
  })
})

test('fields that the page does not know are let be', () => {
  assert.equal(parseTunnelState({ ...ANSWER, weather: 'fine' }).total, 1)
})

for (const { primary, isMissing } of [
  { primary: undefined, isMissing: false },
  { primary: 'included', isMissing: false },
  { primary: 'unavailable', isMissing: true },
]) {
  test(`the sessions of a primary that is ${primary ?? 'not named'} are ${isMissing ? 'missing' : 'there'}`, () => {
    assert.equal(parseTunnelState({ ...ANSWER, primary }).isPrimaryMissing, isMissing)
  })
}

const BROKEN = [
  { answer: null, message: /the answer is not an object/ },
  { answer: { ...ANSWER, at: 'now' }, message: /the answer: at is not a time/ },
  { answer: { ...ANSWER, total: '5' }, message: /the answer: total is not a number/ },
  { answer: { ...ANSWER, gateways: {} }, message: /the answer: gateways is not a list/ },
  { answer: { ...ANSWER, pool: undefined }, message: /pool is not an object/ },
  {
    answer: { ...ANSWER, gateways: [{ name: 'a' }] },
    message: /gateways: heartbeat_seconds is not a number/,
  },
  { answer: { ...ANSWER, sessions: [{ id: 1 }] }, message: /user is not an object/ },
]

for (const { answer, message } of BROKEN) {
  test(`what cannot be read is named: ${message.source}`, () => {
    assert.throws(() => parseTunnelState(answer), { message })
  })
}
