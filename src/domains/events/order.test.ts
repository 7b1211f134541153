import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { EventPage, PositionedEvent } from '../../ports/events.ts'
import { LOGS, type Places } from './model.ts'
import { EventOrder, type EventLogs } from './order.ts'

const BEGIN: Places = { messages: 0, telemetry: 0 }

/** What is committed, in this order: messages (false) and uploads of telemetry (true). */
class Commits implements EventLogs {
  readonly #messages: EventPage['events'][number][] = []
  readonly #telemetry: PositionedEvent[] = []

  add(isTelemetry: boolean): void {
    const rest = { subject: 'any', payload: '{}' }
    const afterMessage = this.#messages.length
    if (isTelemetry) this.#telemetry.push({ place: this.#telemetry.length + 1, afterMessage, ...rest })
    else this.#messages.push({ place: this.#messages.length + 1, ...rest })
  }

  readonly messages = {
    readAfter: async (after: number, limit: number) => {
      const events = this.#messages.slice(after, after + limit)
      return { events, through: after + events.length }
    },
    newestPlace: async () => this.#messages.length,
    removedUpTo: async () => 0,
  }

  readonly telemetry = {
    readAfter: async (after: number, limit: number) => this.#telemetry.slice(after, after + limit),
    newestPlace: async (message: number) =>
      this.#telemetry.findLast(({ afterMessage }) => afterMessage <= message)?.place ?? 0,
    removedUpTo: async () => 0,
    waitForTransactions: async () => {},
  }
}

/** Reads pages until there is nothing more. */
async function readAll(order: EventOrder, start: Places, limit: number) {
  const events: Places[] = []
  for (let end = start; ;) {
    const page = await order.readAfter(end, LOGS, limit)
    events.push(...page.events.map(({ position }) => position))
    end = page.end
    if (!page.hasMore) return { events, end }
  }
}

const commits = fc.array(fc.boolean(), { maxLength: 40 })
const limit = fc.integer({ min: 1, max: 7 })

test('readers see the same positions in the same order, wherever they begin and however they read', () =>
  fc.assert(
    fc.asyncProperty(commits, commits, limit, limit, async (before, later, oneLimit, otherLimit) => {
      const logs = new Commits()
      const order = new EventOrder(logs)
      for (const isTelemetry of before) logs.add(isTelemetry)
      const now = await order.newest()
      const first = await readAll(order, BEGIN, oneLimit)
      let live = first.end
      const seen = [...first.events]
      for (const isTelemetry of later) {
        logs.add(isTelemetry)
        const news = await readAll(order, live, oneLimit)
        seen.push(...news.events)
        live = news.end
      }
      const { events } = await readAll(order, BEGIN, otherLimit)
      assert.deepEqual(seen, events)
      assert.equal(events.length, before.length + later.length)
      assert.deepEqual((await readAll(order, now, otherLimit)).events, events.slice(before.length))
      for (const [index, position] of events.entries())
        assert.deepEqual((await readAll(order, position, otherLimit)).events, events.slice(index + 1))
    }),
    { numRuns: 100 },
  ))
