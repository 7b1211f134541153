import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTicketList } from '../../test/support/ticket-api.ts'
import fc from 'fast-check'
import { fakeClock } from '../../test/support/clock.ts'
import { Killed, MemoryStateStore, type NotifierDisk } from '../../test/support/memory-state-store.ts'
import { createLog } from './log.ts'
import { CHANNEL_OUTCOMES, type ChannelOutcome, failedOnBoth, wasDelivered } from './notification.ts'
import { runRound, SaveError, type RoundCounts } from './round.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const STATUSES = ['open', 'in_progress', 'resolved', 'closed']
const LEVELS = ['critical', 'high', 'low', 'info']
const TITLES = ['Disk full', 'SELFTEST disk', '磁盘']
const LISTED = 8

interface ModelTicket {
  readonly id: string
  readonly level: string
  readonly title: string
  readonly created_at: string
  status: string
  updated_at: string
}

type Action =
  | { readonly what: 'open'; readonly level: string; readonly title: string }
  | { readonly what: 'change'; readonly which: number; readonly status: string }
  | { readonly what: 'wait'; readonly ms: number }
  | { readonly what: 'break the state' }
  | {
      readonly what: 'round'
      /** The outcomes of successive notifications; the last one is repeated. */
      readonly outcomes: readonly (readonly [ChannelOutcome, ChannelOutcome])[]
      /** The moment of a kill; each moment leaves different files. */
      readonly killAt: number | undefined
    }

const outcome = fc.constantFrom(...CHANNEL_OUTCOMES)
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant('open'),
      level: fc.constantFrom(...LEVELS),
      title: fc.constantFrom(...TITLES),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant('change'),
      which: fc.nat(20),
      status: fc.constantFrom(...STATUSES),
    }),
  },
  // Also steps of the clock: an hour back, a month on.
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('wait'),
      ms: fc.constantFrom(MINUTE, 5 * MINUTE, 61 * MINUTE, DAY, 31 * DAY, -61 * MINUTE),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constant('round'),
      outcomes: fc.array(fc.tuple(outcome, outcome), { minLength: 1, maxLength: 4 }),
      killAt: fc.option(fc.nat(12), { nil: undefined, freq: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ what: 'break the state' }) },
)

interface Attempt {
  readonly id: string
  /** The notification's text names the ticket, its change and its time. */
  readonly text: string
  readonly title: string
  readonly delivered: boolean
  readonly willBeRetried: boolean
}

type Statuses = Readonly<Record<string, { readonly status: string }>>

function model() {
  const clock = fakeClock(Date.UTC(2026, 10, 21, 2))
  const disk: NotifierDisk = { state: undefined, digestRecord: undefined, kept: [] }
  const tickets: ModelTicket[] = []
  const delivered = new Map<string, number>()
  let doubtfulKills = 0

  /** A new time for each change, so that each has its own text. */
  const tick = () => {
    clock.advance(1)
    return new Date(clock.now()).toISOString()
  }
  const listed = () => [...tickets].sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1)).slice(0, LISTED)
  const remembered = (): Statuses | undefined => {
    try {
      return JSON.parse(disk.state ?? '') as Statuses
    } catch {
      return undefined
    }
  }

  async function round({ outcomes, killAt }: Extract<Action, { what: 'round' }>): Promise<void> {
    const list = listed().map((each) => ({ ...each }))
    const before = remembered()
    const attempts: Attempt[] = []
    const digests: string[] = []
    const suppressed = new Map<string, string>()
    let moments = 0
    const moment = () => {
      if (moments++ === killAt) throw new Killed()
    }
    const run = runRound(
      {
        log: createLog(
          {
            write(text) {
              const { message, reason, ticket } = JSON.parse(text) as Record<string, string>
              if (message === 'suppressed') suppressed.set(String(ticket), String(reason))
            },
          },
          clock.now,
        ),
        store: new MemoryStateStore(disk, { beforeWrite: moment, afterWrite: moment }),
        now: clock.now,
        monotonic: clock.monotonic,
        fetchTickets: async () => parseTicketList(list) ?? assert.fail(),
        async send({ category, title, text }) {
          moment()
          const [mail, robot] = outcomes[Math.min(attempts.length, outcomes.length - 1)] ?? assert.fail()
          const result = { mail, robot, reasons: {} }
          if (category === 'digest') digests.push(text)
          if (category === 'ticket') {
            const id = /^Ticket: (.*)$/m.exec(text)?.[1] ?? assert.fail()
            attempts.push({
              id,
              text,
              title,
              delivered: wasDelivered(result),
              willBeRetried: failedOnBoth(result),
            })
            if (wasDelivered(result)) delivered.set(text, (delivered.get(text) ?? 0) + 1)
          }
          moment()
          return result
        },
        reportAlert: async () => moment(),
        server: 'host-1',
        isStopping: () => false,
      },
      {
        limit: LISTED + 1,
        seedOnly: false,
        freshMs: 60 * MINUTE,
        maxNotify: 3,
        keepMs: 30 * DAY,
        digest: true,
        stateFile: 'state',
      },
    )
    const counts = await run.catch((error: unknown) => {
      if (error instanceof Killed || (error instanceof SaveError && error.cause instanceof Killed))
        return undefined
      throw error
    })
    checkRound({ list, before, attempts, suppressed, digests, counts })
  }

  interface RoundResult {
    readonly list: readonly ModelTicket[]
    readonly before: Statuses | undefined
    readonly attempts: readonly Attempt[]
    readonly suppressed: ReadonlyMap<string, string>
    readonly digests: readonly string[]
    readonly counts: RoundCounts | undefined
  }

  function checkRound({ list, before, attempts, suppressed, digests, counts }: RoundResult): void {
    const after = remembered()
    if (!before) {
      assert.deepEqual(attempts, [], 'a first round sends nothing')
      if (counts) for (const { id, status } of list) assert.equal(after?.[id]?.status, status)
      return
    }
    if (!after) assert.fail('a readable state stays readable')
    let doubtful = 0
    const seen = { done: 0, suppressed: 0, retried: 0 }
    for (const ticket of list) {
      const changed = before[ticket.id]?.status !== ticket.status
      const attempt = attempts.find(({ id }) => id === ticket.id)
      const reason = suppressed.get(ticket.id)
      if (!changed) {
        assert.ok(!attempt && reason === undefined, 'an unchanged ticket is neither sent nor suppressed')
        continue
      }
      const advanced: boolean = after[ticket.id]?.status === ticket.status
      if (advanced) {
        const isExplained =
          (attempt && !attempt.willBeRetried) || (reason !== undefined && reason !== 'budget')
        assert.ok(isExplained, `${ticket.id} is remembered without being sent or suppressed`)
        if (attempt?.delivered !== true) {
          const isRecorded = (disk.digestRecord ?? '').includes(`${ticket.id}:`)
          assert.ok(isRecorded || digests.length > 0, `${ticket.id} is not in the digest record`)
        }
      } else if (attempt?.delivered) doubtful += 1
      if (reason !== undefined && reason !== 'budget') seen.suppressed += 1
      else if (advanced) seen.done += 1
      else seen.retried += 1
      if (counts)
        assert.equal(advanced, reason === undefined ? attempt?.willBeRetried === false : reason !== 'budget')
    }
    if (counts) {
      assert.equal(doubtful, 0, 'a complete round remembers everything it sent')
      const changes = counts.new + counts.changed
      assert.equal(seen.done + seen.suppressed + seen.retried, changes)
      assert.deepEqual(
        [seen.done, seen.retried],
        [counts.sent + counts.undelivered, counts.failed + counts.suppressed.budget],
      )
      assert.ok(attempts.length <= 3, 'the budget is not exceeded')
    }
    assert.ok(doubtful <= 1, 'a kill leaves at most one notification that may be repeated')
    doubtfulKills += doubtful
  }

  async function play(each: Action): Promise<void> {
    if (each.what === 'open') {
      const at = tick()
      const { level, title } = each
      tickets.push({ id: `t${tickets.length}`, level, title, status: 'open', created_at: at, updated_at: at })
    } else if (each.what === 'change') {
      const ticket = tickets[each.which % Math.max(1, tickets.length)]
      if (ticket) Object.assign(ticket, { status: each.status, updated_at: tick() })
    } else if (each.what === 'wait') clock.advance(each.ms)
    else if (each.what === 'break the state') disk.state = disk.state?.slice(0, -4)
    else await round(each)
  }

  async function end(): Promise<void> {
    // With working channels and without kills everything that waits is sent or suppressed.
    for (let n = 0; n < 8; n++)
      await round({ what: 'round', outcomes: [['sent', 'sent']], killAt: undefined })
    const state = remembered() ?? {}
    for (const { id, status } of listed()) assert.equal(state[id]?.status, status, `${id} is settled`)
    const surplus = [...delivered.values()].reduce((sum, times) => sum + times - 1, 0)
    assert.ok(surplus <= doubtfulKills, `${surplus} sent twice, ${doubtfulKills} kills between send and save`)
  }

  return { play, end }
}

test('in any sequence of actions: sent + suppressed + to be retried = all changes, and only a kill repeats a notification', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 60 }), async (actions) => {
      const { play, end } = model()
      for (const each of actions) await play(each)
      await end()
    }),
    { numRuns: 400 },
  )
})
