import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { localTime } from '../../programs/backup/night/local-time.ts'
import { dueForRetryLoop } from '../../programs/backup/night/schedule.ts'
import { EMPTY_STATE } from '../../programs/backup/night/state.ts'
import { afterAttempt, allowedBy } from '../../src/domains/alerts/notifications/health.ts'
import { applyTime, withFarTimesDue } from '../../src/domains/alerts/transitions.ts'
import type { Alert } from '../../src/domains/alerts/model.ts'
import { LEASE_MS, LeaseWatch } from '../../src/domains/commands/lease-watch.ts'
import { isBackupDue } from '../../src/domains/data-backups/model.ts'
import { bucketSize, takeTokens } from '../../src/domains/telemetry/model.ts'
import { createLoginThrottle } from '../../src/domains/users/login-throttle.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { CLOCK_DIFFERENCE_MS, DAY, HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts'
import { TokenBucket } from '../../src/kernel/waiting.ts'
import { alertAfter } from '../support/alert-transitions.ts'
import { defineColumns, text } from '../../src/store/columns.ts'
import { createLease } from '../../src/store/work/lease.ts'
import { WORK_COLUMNS, WorkQueue } from '../../src/store/work/work-queue.ts'
import { scopeOf } from '../support/scope.ts'
import { testStore } from '../support/store.ts'
import { fakeClock, type FakeClock } from '../support/clock.ts'

type IsDue = () => boolean | Promise<boolean>

/** What waits for a time: begins to wait, and returns whether the time has come. */
interface Waiting {
  readonly pauseMs: number
  begin(clock: Clock, t: TestContext): IsDue | Promise<IsDue>
}

const ACKNOWLEDGE_FOR_MS = 4 * HOUR

/** An alert that changes by itself after a pause. */
function alertWith(pauseMs: number, changes: (until: number) => Partial<Alert>): Waiting {
  return {
    pauseMs,
    begin(clock) {
      const alert = { ...alertAfter('ERROR'), ...changes(clock.now() + pauseMs) }
      return () => applyTime(withFarTimesDue(alert, clock.now(), ACKNOWLEDGE_FOR_MS), clock.now()).length > 0
    },
  }
}

const PAUSES = { initialMs: MINUTE, maximumMs: MINUTE }
const LOGINS = 100
const NIGHT = { timeZone: 'UTC', windowStart: '00:00', windowEnd: '24:00', retryEveryMs: 30 * MINUTE }
const WORK_ITEMS = new WorkQueue('work_items', defineColumns({ id: text(), ...WORK_COLUMNS }))

/** Silences have no row: they begin and end at times of the wall clock (docs/specification.md, Alerts). */
const WAITING: Readonly<Record<string, Waiting>> = {
  'a robot that has asked for a pause': {
    pauseMs: MINUTE,
    begin(clock) {
      const limit = { burst: 1, everyMs: SECOND }
      const bucket = new TokenBucket(limit, () => clock.now())
      bucket.pause(MINUTE)
      let { state } = bucket
      return () => {
        const stored = new TokenBucket(limit, () => clock.now(), state)
        const isFree = stored.available() > 0
        state = stored.state
        return isFree
      }
    },
  },
  'a robot that fails': {
    pauseMs: MINUTE,
    begin(clock) {
      const attempt = { messageId: 'm', fault: 'receiver' } as const
      const { health } = afterAttempt(null, attempt, { now: clock.now(), pauses: PAUSES })
      return () => allowedBy(health, clock.now(), PAUSES) === 'any'
    },
  },
  'the next data backup': {
    pauseMs: DAY,
    begin(clock) {
      const newest = { status: 'completed', createdAt: clock.now() } as const
      return () => isBackupDue(newest, DAY, clock.now())
    },
  },
  'the next try of a nightly backup that has failed': {
    pauseMs: NIGHT.retryEveryMs,
    begin(clock) {
      const failedAt = clock.now()
      return () => {
        const now = clock.now()
        // The walk may end on another date, whose night has failed as well.
        const nights = [{ date: localTime(now, NIGHT.timeZone).date, failures: 1 }]
        return dueForRetryLoop({ ...EMPTY_STATE, nights }, now, NIGHT, failedAt).action === 'retry'
      }
    },
  },
  'work whose attempt has failed': {
    pauseMs: MINUTE,
    async begin(clock, t) {
      const { store } = scopeOf(t).use(await testStore('sqlite', clock))
      const longestPauseMs = MINUTE + CLOCK_DIFFERENCE_MS
      const claim = { holder: 'me', longestPauseMs, limit: 1, except: [] }
      await store.write(async ({ db }) => {
        await sql`create table work_items (id text, due_at bigint, lease_holder text, attempts int, queued_at bigint, trace text)`.execute(
          db,
        )
        await sql`insert into work_items values ('one', ${clock.now() + MINUTE}, null, 1, ${clock.now()}, null)`.execute(
          db,
        )
      })
      return async () => {
        const [now, until] = [clock.now(), clock.now() + MINUTE]
        const claimed = await store.write((tx) => WORK_ITEMS.claim(tx, { ...claim, now, until }))
        return claimed.length === 1
      }
    },
  },
  'the telemetry of an agent above its rate': {
    pauseMs: 5 * SECOND,
    begin(clock) {
      const first = takeTokens(0, bucketSize(10), clock.now(), 10)
      assert.equal(first.outcome, 'taken')
      const { fullAt } = first
      return () => takeTokens(fullAt, 10, clock.now(), 10).outcome === 'taken'
    },
  },
  'a login after too many failures': {
    pauseMs: 15 * MINUTE,
    begin(clock) {
      const throttle = createLoginThrottle(clock)
      const login = () => {
        try {
          throttle.begin('ada', '192.0.2.1')
          return true
        } catch {
          return false
        }
      }
      for (let attempts = 0; login(); attempts++) assert.ok(attempts < LOGINS)
      return login
    },
  },
  'an acknowledgement': alertWith(ACKNOWLEDGE_FOR_MS, (until) => ({
    status: 'acknowledged',
    acknowledgedWeight: 6,
    acknowledgedUntil: until,
  })),
  'the freeze of an alert': alertWith(HOUR, (until) => ({
    status: 'frozen',
    freeze: { until, swings: 4, reportsBefore: 0 },
  })),
  'an alert that is told again': alertWith(DAY, (until) => ({ repeatEveryMs: DAY, repeatAt: until })),
  'the lease of a job whose holder is gone': {
    pauseMs: 10 * SECOND,
    async begin(clock, t) {
      const { store } = scopeOf(t).use(await testStore('sqlite', clock))
      const options = { store, clock, name: 'job', ttlMs: 10 * SECOND }
      await createLease(options).hold()
      const other = createLease(options)
      return () => other.hold()
    },
  },
  'the lease of a dead worker': {
    pauseMs: LEASE_MS,
    begin(clock) {
      const watch = new LeaseWatch(clock)
      const lease = { id: 'e', dueAt: clock.now() + LEASE_MS }
      watch.findAbandoned([lease])
      return () => watch.findAbandoned([lease]).length === 1
    },
  },
}

const WALKS: Readonly<Record<string, (clock: FakeClock) => void>> = {
  'is set back 8 hours': (clock) => clock.jump(-8 * HOUR),
  'is set forward 8 hours': (clock) => clock.jump(8 * HOUR),
  'is set forward a day': (clock) => clock.jump(DAY),
  // Linux does not count a suspension as monotonic time, but it counts the time in which a container or process stands still.
  'goes on after an hour of suspension': (clock) => clock.jump(HOUR),
  'goes on after an hour in which the process stood still': (clock) => clock.advance(HOUR),
}

for (const [what, { pauseMs, begin }] of Object.entries(WAITING))
  for (const [how, walk] of Object.entries(WALKS))
    test(`${what} waits no longer than its pause when the clock ${how}`, async (t) => {
      const clock = fakeClock()
      const isDue = await begin(clock, t)
      assert.equal(await isDue(), false)
      walk(clock)
      // Whoever waits looks regularly.
      const isDueAtOnce = await isDue()
      clock.advance(pauseMs)
      assert.ok(isDueAtOnce || (await isDue()))
    })
