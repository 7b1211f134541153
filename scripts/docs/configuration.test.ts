import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SETTING_TABLE } from '../../src/config/schema.ts'
import { configurationPage } from './configuration.ts'

test('the reference has a row of five cells for every setting', () => {
  const rows = configurationPage()
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  assert.equal(rows.length, Object.keys(SETTING_TABLE).length)
  for (const row of rows) assert.equal(row.split(/(?<!\\)\|/).length, 7, row)
  assert.ok(rows.some((row) => row.startsWith('| `auth.token_ttl` | `TOKEN_TTL` | duration | `1h` | ')))
  assert.ok(rows.some((row) => row.startsWith('| `vpn.heartbeat` | `VPN_HEARTBEAT` | duration | `30s` | ')))
})
