import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AT, sessionItem, tunnelsAnswer } from '../../../test/support/tunnels-sample.ts'
import { toTunnelState } from './tunnel-state.ts'

const ANSWER = tunnelsAnswer([sessionItem({ virtual_ip: '100.64.0.2', device: null, rtt_ms: null })])

test('an answer is read into the words of the page', () => {
  const state = toTunnelState(ANSWER)
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

for (const { answer, isMissing } of [
  { answer: ANSWER, isMissing: false },
  { answer: { ...ANSWER, primary: 'included' }, isMissing: false },
  { answer: { ...ANSWER, primary: 'unavailable' }, isMissing: true },
] as const) {
  test(`the sessions of a primary that is ${'primary' in answer ? answer.primary : 'not named'} are ${isMissing ? 'missing' : 'there'}`, () => {
    assert.equal(toTunnelState(answer).isPrimaryMissing, isMissing)
  })
}
