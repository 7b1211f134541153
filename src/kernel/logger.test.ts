import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../test/support/clock.ts'
import { AppError } from './errors.ts'
import { silentLogger, createOutage, OUTAGES, type OutageName } from './logger.ts'
import { SECOND } from './time.ts'

const NAMES = Object.keys(OUTAGES) as OutageName[]

function world(name: OutageName) {
  const lines: string[] = []
  const note = (level: string) => (fields: object, text: string) =>
    void lines.push(`${level} ${text}${'seconds' in fields ? ` ${String(fields.seconds)}` : ''}`)
  const clock = fakeClock()
  const logger = { ...silentLogger, error: note('error'), warn: note('warn'), info: note('info') }
  return { lines, clock, outage: createOutage(logger, name, { clock }) }
}

test('each outage is a warning, an error once it has lasted a minute, and an end with its length', () => {
  for (const name of NAMES) {
    const { lines, clock, outage } = world(name)
    for (let attempt = 0; attempt < 5; attempt++) {
      outage.fails(new Error('refused'))
      clock.advance(30 * SECOND)
    }
    outage.works()
    outage.works()
    const { fails, lasts, worksAgain } = OUTAGES[name]
    assert.deepEqual(lines, [`warn ${fails}`, `error ${lasts} 60`, `info ${worksAgain} 150`])
  }
})

test('an outage of the database is told once, however much depends on it', () => {
  const error = new AppError('unavailable', 'store_unavailable', 'away')
  const telling = NAMES.filter((name) => {
    const { lines, clock, outage } = world(name)
    outage.fails(error)
    clock.advance(60 * SECOND)
    outage.fails(error)
    outage.works()
    return lines.length > 0
  })
  assert.deepEqual(telling, ['database'])
})
