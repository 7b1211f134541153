import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { calendarLines, retryTimes, runTimes } from '../../../programs/backup/install/calendar.ts'
import { nextRun } from '../../../programs/backup/install/next-run.ts'
import { INSTALL_SETTINGS } from '../../support/install-world.ts'

const FIRST = '2027-01-01'
const LAST = '2037-12-31'
// The first night begins before midnight UTC in some zones.
const BASE_TIME = '2026-12-30 00:00:00 UTC'
const DAY_MS = 86_400_000
const DATES = Array.from({ length: (Date.parse(LAST) - Date.parse(FIRST)) / DAY_MS + 1 }, (_, index) =>
  new Date(Date.parse(FIRST) + index * DAY_MS).toISOString().slice(0, 10),
)

/** Zones with the number of nights of these years that have no 02:00. Cairo changes its clocks at midnight. */
const ZONES = [
  ['Europe/Berlin', 11],
  ['America/New_York', 11],
  ['Australia/Lord_Howe', 11],
  ['Africa/Cairo', 0],
] as const

interface Call {
  readonly at: number
  readonly date: string
  readonly time: string
}

type Calls = ReadonlyMap<string, Call>

for (const [zone, nightsWithoutStart] of ZONES)
  test(`in ${zone} systemd begins each night of 2027 to 2037 at 02:00, or at 03:05 if it has no 02:00, and ends each at 06:00`, () => {
    const [start, second] = runTimes(INSTALL_SETTINGS.window).map((time) => callsAt(time, zone)) as [
      Calls,
      Calls,
    ]
    const end = callsAt(retryTimes(INSTALL_SETTINGS.window).at(-1) ?? 0, zone)
    assert.deepEqual([...end.keys()], DATES)
    for (const { time } of end.values()) assert.equal(time, '06:00')
    for (const { time } of start.values()) assert.equal(time, '02:00')
    for (const { time } of second.values()) assert.equal(time, '03:05')
    const withoutStart = DATES.filter((date) => !start.has(date))
    assert.equal(withoutStart.length, nightsWithoutStart)
    assert.deepEqual(
      withoutStart.filter((date) => !second.has(date)),
      [],
    )

    for (const date of DATES) {
      const at = (start.get(date) ?? second.get(date))?.at ?? 0
      assert.equal(nextRun(at - 1, zone), at, `the next run just before ${date}`)
      assert.notEqual(nextRun(at, zone), at, `the next run at ${date}`)
    }
  })

test('a zone that the expression names counts as the zone of the system does', () => {
  for (const [zone] of ZONES) {
    const [line = ''] = calendarLines([runTimes(INSTALL_SETTINGS.window)[0]], zone)
    for (const change of clockChanges(zone)) {
      const options = [`--iterations=${NIGHTS_AROUND_A_CHANGE}`, `--base-time=${change}`]
      assert.deepEqual(calendar('UTC', ...options, line), calendar(zone, ...options, withoutZone(line, zone)))
    }
  }
})

// For a zone that is named, systemd starts a process for each time.
const NIGHTS_AROUND_A_CHANGE = 8

/** Three days before each change of the clocks of a year, as systemd reads times. */
function clockChanges(zone: string): string[] {
  const first = Temporal.Instant.from(`${FIRST}T00:00:00Z`).toZonedDateTimeISO(zone)
  const spring = first.getTimeZoneTransition('next')
  const autumn = spring?.getTimeZoneTransition('next')
  assert.ok(spring && autumn, `${zone} changes its clocks`)
  return [spring, autumn].map((change) => {
    const before = change.toInstant().subtract({ hours: 72 })
    return `${before.toString().slice(0, 19).replace('T', ' ')} UTC`
  })
}

/** The calls of a line of a timer by their local dates, of which each has one at most. */
function callsAt(time: number, zone: string): Calls {
  const [line = ''] = calendarLines([time], zone)
  const options = [`--iterations=${DATES.length + 5}`, `--base-time=${BASE_TIME}`]
  // The zone of the process, because a named one is slow.
  const calls = calendar(zone, ...options, withoutZone(line, zone)).map(localTimes(zone))
  const wanted = calls.filter(({ date }) => date >= FIRST && date <= LAST)
  assert.equal(new Set(wanted.map(({ date }) => date)).size, wanted.length)
  return new Map(wanted.map((call) => [call.date, call]))
}

const withoutZone = (line: string, zone: string) => line.replace(` ${zone}`, '')

/** When an expression elapses, in milliseconds since the epoch. */
function calendar(zone: string, ...args: readonly string[]): number[] {
  const { stdout, stderr, status } = spawnSync('systemd-analyze', ['calendar', ...args], {
    encoding: 'utf8',
    env: { ...process.env, TZ: zone, LC_ALL: 'C' },
    maxBuffer: 64 * 1024 ** 2,
  })
  assert.deepEqual([status, stderr], [0, ''])
  return [...stdout.matchAll(/: \w+ (\S+) (\S+) UTC$/gm)].map(([, date, time]) =>
    Date.parse(`${date}T${time}Z`),
  )
}

/** Local dates and times, by another library than that of the program. */
function localTimes(timeZone: string): (at: number) => Call {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  return (at) => {
    const [date = '', time = ''] = format.format(at).split(' ')
    return { at, date, time }
  }
}
