import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { linkedTimeZone, systemTimeZone } from './backup-types.ts'

const MODULE = import.meta.resolve('./backup-types.ts')

test('the zone of the system is one that Intl and systemd know', () => {
  const zone = systemTimeZone(undefined)
  assert.doesNotThrow(() => new Intl.DateTimeFormat('en', { timeZone: zone }))
  if (linkedTimeZone() !== undefined) assert.ok(existsSync(`/usr/share/zoneinfo/${zone}`), zone)
})

test('the variable TZ goes before the zone of the system', () => {
  for (const [variable, zone] of [
    ['Asia/Tokyo', 'Asia/Tokyo'],
    [':America/New_York', 'America/New_York'],
  ]) {
    const script = `import { systemTimeZone } from ${JSON.stringify(MODULE)}
      process.stdout.write(systemTimeZone(process.env.TZ))`
    const args = ['--input-type=module', '--eval', script]
    const options = { encoding: 'utf8', env: { ...process.env, TZ: variable } } as const
    assert.equal(execFileSync(process.execPath, args, options), zone)
  }
})
