import assert from 'node:assert/strict'
import { test, describe, it } from 'node:test'
import fc from 'fast-check'
import {
  formatDuration,
  parseDuration,
  parseRfc3339,
  toRfc3339,
  DAY,
  MINUTE,
  WEEKDAYS,
  weeklySpans,
  type TimeSpan,
  type WeeklyHours,
} from './time.ts'
import {
  CHANGING_ZONES,
  datesOf,
  daysOfClockChanges,
  firstMoment,
  lastMoment,
  readClocks,
  type Reading,
} from '../../test/support/local-clock.ts'

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

const at = (text: string) => Date.parse(text)

function spansAfter(hours: WeeklyHours, after: number, count: number): TimeSpan[] {
  return [...weeklySpans(hours, after).take(count)]
}

const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))

/** The spans that begin on these dates, as a person with a clock would find them. */
function seenSpans(readings: readonly Reading[], from: string, to: string): TimeSpan[] {
  const toMinutes = minutesOf(to) + (to < from ? 24 * 60 : 0)
  const spans: TimeSpan[] = []
  for (const date of datesOf(readings)) {
    const startsAt = firstMoment(readings, date + minutesOf(from) * MINUTE)
    const endsAt = lastMoment(readings, date + toMinutes * MINUTE)
    const last = spans.at(-1)
    if (startsAt >= endsAt) continue
    if (last && startsAt < last.endsAt) spans.splice(-1, 1, { ...last, endsAt })
    else spans.push({ startsAt, endsAt })
  }
  return spans
}

describe('hours of a week', () => {
  const HOURS = [
    ['00:00', '24:00'],
    ['02:00', '03:00'],
    ['02:15', '02:45'],
    ['02:30', '02:15'],
    ['01:00', '02:00'],
    ['01:30', '02:30'],
    ['23:30', '00:30'],
    ['00:00', '01:00'],
    ['00:30', '00:15'],
    ['22:00', '06:00'],
  ] as const

  for (const timeZone of CHANGING_ZONES) {
    it(`are those that the clocks of ${timeZone} show, around each change of ten years`, () => {
      const changes = daysOfClockChanges(timeZone)
      assert.equal(changes.length, 20)
      for (const day of changes) {
        const readings = readClocks(timeZone, day - 3 * DAY, day + 4 * DAY)
        for (const [from, to] of HOURS) {
          const seen = seenSpans(readings, from, to)
          const [first] = seen
          assert.ok(first)
          const own = spansAfter({ days: WEEKDAYS, from, to, timeZone }, first.startsAt, seen.length)
          assert.deepEqual(own, seen, `${from}-${to} around ${new Date(day).toISOString()}`)
        }
      }
    })
  }

  it('are of their days alone, and belong to the day on which they begin', () => {
    const hours = { days: ['fri', 'sun'], from: '22:00', to: '06:00', timeZone: 'UTC' } as const
    assert.deepEqual(
      spansAfter(hours, at('2026-11-27T23:00Z'), 3).map(({ startsAt, endsAt }) => [startsAt, endsAt]),
      [
        [at('2026-11-27T22:00Z'), at('2026-11-28T06:00Z')],
        [at('2026-11-29T22:00Z'), at('2026-11-30T06:00Z')],
        [at('2026-12-04T22:00Z'), at('2026-12-05T06:00Z')],
      ],
    )
  })

  it('are over at their end', () => {
    const hours = { days: ['mon'], from: '02:00', to: '06:00', timeZone: 'UTC' } as const
    assert.equal(spansAfter(hours, at('2026-11-30T05:59Z'), 1)[0]?.startsAt, at('2026-11-30T02:00Z'))
    assert.equal(spansAfter(hours, at('2026-11-30T06:00Z'), 1)[0]?.startsAt, at('2026-12-07T02:00Z'))
  })

  it('that the clock skips as a whole are left out', () => {
    const hours = { days: WEEKDAYS, from: '02:00', to: '03:00', timeZone: 'Europe/Berlin' }
    assert.deepEqual(
      spansAfter(hours, at('2026-03-28T00:00Z'), 2).map(({ startsAt }) => startsAt),
      [at('2026-03-28T01:00Z'), at('2026-03-30T00:00Z')],
    )
  })
})
