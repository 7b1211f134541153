import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { NIGHT_ALERTS } from '../../../programs/backup/alerts/events.ts'
import { HEARTBEATS } from '../../../programs/backup/alerts/night-alerts.ts'
import { ERROR_CODES } from '../../../programs/backup/errors.ts'
import { rebootGates, type RebootGateDeps } from '../../../programs/backup/host/gates.ts'
import { UNIT_NAMES } from '../../../programs/backup/install/units.ts'
import { metricsText } from '../../../programs/backup/metrics-file.ts'
import { FULL_NIGHT_NUMBERS } from '../../support/night-numbers.ts'

const guide = readFileSync(join(import.meta.dirname, '../../../docs/guide/nightly.md'), 'utf8')

/** The first column of the tables of a section, in order. */
function rowsBelow(heading: string): string[] {
  const section = guide.split(/^#+ /m).find((each) => each.startsWith(`${heading}\n`)) ?? ''
  return [...section.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, name = '']) => name)
}

test('the guide says what to do about every alert and every error code', () => {
  const alerts = new Set(Object.values(NIGHT_ALERTS).map(({ alarmId }) => alarmId))
  const heartbeats = Object.keys(HEARTBEATS).map((name) => `heartbeat.missed:${name}`)
  assert.deepEqual(new Set(rowsBelow('What to do about an alert')), new Set([...alerts, ...heartbeats]))
  assert.deepEqual(rowsBelow('Error codes'), ERROR_CODES)
})

test('the guide explains every gate, every enabled unit and every metric', () => {
  const gates = rebootGates({} as RebootGateDeps).map(({ name }) => name)
  assert.deepEqual(rowsBelow('Gates and reboot'), gates)
  const enabled = UNIT_NAMES.filter((name) => name.endsWith('.timer') || name.includes('selfcheck'))
  assert.deepEqual(rowsBelow('The units'), enabled)
  const metrics = metricsText(FULL_NIGHT_NUMBERS).matchAll(/^# TYPE (\w+)/gm)
  for (const [, name = ''] of metrics) assert.ok(guide.includes(`\`${name}`), name)
})
