import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatDuration, parseDuration, parseRfc3339, toRfc3339 } from './time.ts'

const TIMES: readonly (readonly [text: string, utc: string | undefined])[] = [
  ['2026-01-31T02:00:00Z', '2026-01-31T02:00:00.000Z'],
  ['2026-01-31T02:00:00.123456789Z', '2026-01-31T02:00:00.123Z'],
  ['2026-01-31t02:00:00z', '2026-01-31T02:00:00.000Z'],
  ['2026-01-31T02:00:00+05:30', '2026-01-30T20:30:00.000Z'],
  ['2026-01-31T02:00:00-23:59', '2026-02-01T01:59:00.000Z'],
  ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  // A leap second counts as the second after it.
  ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
  ['2026-02-29T00:00:00Z', undefined],
  ['2026-04-31T00:00:00Z', undefined],
  ['2026-13-01T00:00:00Z', undefined],
  ['2026-01-31T24:00:00Z', undefined],
  ['2026-01-31T02:60:00Z', undefined],
  ['2026-01-31T02:00:00', undefined],
  ['2026-01-31 02:00:00Z', undefined],
  ['2026-01-31T02:00:00+24:00', undefined],
  ['2026-01-31', undefined],
  ['now', undefined],
  ['', undefined],
]

for (const [text, utc] of TIMES) {
  test(`${JSON.stringify(text)} is ${utc ?? 'not a time'}`, () => {
    const parsed = parseRfc3339(text)
    assert.equal(parsed === undefined ? undefined : toRfc3339(parsed), utc)
  })
}

test('every formatted time parses to the same time', () => {
  fc.assert(
    fc.property(
      fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(253402300799999) }),
      (date) => {
        assert.equal(parseRfc3339(toRfc3339(date.getTime())), date.getTime())
      },
    ),
  )
})

const DURATIONS: readonly (readonly [text: string, milliseconds: number | undefined])[] = [
  ['250ms', 250],
  ['30s', 30_000],
  ['15m', 900_000],
  ['2h', 7_200_000],
  ['7d', 604_800_000],
  ['0s', 0],
  ['', undefined],
  ['15', undefined],
  ['-1s', undefined],
  ['1.5h', undefined],
  ['1w', undefined],
  ['15 m', undefined],
]

for (const [text, milliseconds] of DURATIONS) {
  test(`${JSON.stringify(text)} is ${milliseconds ?? 'not a duration'}`, () => {
    assert.equal(parseDuration(text), milliseconds)
  })
}

test('every formatted duration parses to the same duration', () => {
  fc.assert(
    fc.property(fc.nat({ max: 999_999_999 }), (milliseconds) => {
      assert.equal(parseDuration(formatDuration(milliseconds)), milliseconds)
    }),
  )
})
