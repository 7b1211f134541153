import assert from 'node:assert/strict'
import { test } from 'node:test'
import { language } from '../../i18n/language.ts'
import { judgedSessions } from '../../../test/support/tunnels-graph.ts'
import { gatewayItem, sessionItem, timeBefore } from '../../../test/support/tunnels-sample.ts'
import { describeHealths, explainHealth } from './describe.ts'

const GATEWAYS = [gatewayItem('primary', ''), gatewayItem('standby', '', { alive: false })]

test('a silent session says whether it or its gateway is silent', () => {
  const sessions = judgedSessions(
    [
      sessionItem({ virtual_ip: '100.64.0.2', last_seen_at: timeBefore(62_000) }),
      sessionItem({ virtual_ip: '100.64.0.3', gateway: 'standby' }),
      sessionItem({ virtual_ip: '100.64.0.4' }),
    ],
    { gateways: GATEWAYS },
  )
  assert.deepEqual(
    sessions.map((session) => explainHealth(session)),
    ['Silent 1 min', 'Gateway away', 'Fast'],
  )
})

test('sessions are counted by health, in both languages', () => {
  const sessions = judgedSessions([
    sessionItem({ virtual_ip: '100.64.0.2' }),
    sessionItem({ virtual_ip: '100.64.0.3', rtt_ms: 300 }),
    sessionItem({ virtual_ip: '100.64.0.4' }),
  ])
  assert.equal(describeHealths(sessions), '3 sessions: 2 fast, 1 slow')
  language.value = 'zh'
  assert.equal(describeHealths(sessions), '3 个会话：2 快，1 慢')
  language.value = 'en'
})
