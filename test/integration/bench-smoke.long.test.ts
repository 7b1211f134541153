import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alerts } from '../../bench/alerts.ts'
import { consoleBench } from '../../bench/console.ts'
import { dataBackup } from '../../bench/data-backup.ts'
import { events } from '../../bench/events.ts'
import { gateway } from '../../bench/gateway.ts'
import { list } from '../../bench/list.ts'
import { metrics } from '../../bench/metrics.ts'
import { orders } from '../../bench/orders.ts'
import { outbox } from '../../bench/outbox.ts'
import { postgres } from '../../bench/postgres.ts'
import { scaleOut } from '../../bench/scale-out.ts'
import { scan } from '../../bench/scan.ts'
import { slowDisk } from '../../bench/slow-disk.ts'
import { start } from '../../bench/start.ts'
import { telemetry } from '../../bench/telemetry.ts'
import { worst } from '../../bench/worst.ts'

// Each one starts what it measures, measures it once and stops it; the figures say nothing about speed.
for (const bench of [
  orders,
  list,
  slowDisk,
  scan,
  outbox,
  start,
  gateway,
  postgres,
  metrics,
  alerts,
  dataBackup,
  events,
  telemetry,
  consoleBench,
  scaleOut,
  worst,
]) {
  test(`the benchmark ${bench.name} takes all its figures`, async () => {
    const steps: string[] = []
    const measures = await bench.run({
      rounds: 1,
      sliceMs: 50,
      small: true,
      signal: new AbortController().signal,
      onSlice: (text) => void steps.push(text),
      note() {},
    })
    for (const { what, values } of measures) {
      for (const value of Object.values(values)) assert.ok(Number.isFinite(value), `${what}: ${value}`)
    }
    assert.ok(measures.some(({ must }) => must !== undefined))
    assert.equal(new Set(measures.map(({ what }) => what)).size, measures.length, 'no two have one name')
    assert.ok(steps.some((step) => step.startsWith('round 1 of 1')))
  })
}
