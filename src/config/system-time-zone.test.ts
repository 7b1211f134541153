import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { linkedTimeZone, systemTimeZone } from './system-time-zone.ts'

test('the zone of the system is one that Intl and systemd know', () => {
  const zone = systemTimeZone(undefined)
  assert.doesNotThrow(() => new Intl.DateTimeFormat('en', { timeZone: zone }))
  if (linkedTimeZone() !== undefined) assert.ok(existsSync(`/usr/share/zoneinfo/${zone}`), zone)
})

test('the variable TZ is interpreted as Node.js does it', () => {
  assert.equal(systemTimeZone('any text'), new Intl.DateTimeFormat().resolvedOptions().timeZone)
})
