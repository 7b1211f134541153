import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BENCHES } from '../../bench/benches.ts'

// Each one starts what it measures, measures it once and stops it; the figures say nothing about speed.
for (const bench of BENCHES) {
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
