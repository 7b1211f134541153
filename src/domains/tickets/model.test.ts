import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { chanceOf } from '../../../test/support/random.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import { ticketWorld, WHOLE_HISTORY } from '../../../test/support/tickets.ts'
import type { AppError } from '../../kernel/errors.ts'
import { TICKET_LEVELS, TICKET_STATUSES, type TicketEdit, type TicketStatus } from './model.ts'

const RUNS = { sqlite: 60, postgres: 25 }
const KEYS = ['disk', 'shop'] as const

/** The moves as the specification has them, written again. */
const MOVES: Readonly<Record<TicketStatus, string>> = {
  open: 'in_progress resolved closed',
  in_progress: 'open resolved closed',
  resolved: 'open closed',
  closed: 'open',
}

interface ModelTicket {
  status: TicketStatus
  level: string
  title: string
  readonly key: string | undefined
  readonly comments: string[]
  changes: number
}

/** What must be true of the tickets. */
class Model {
  readonly tickets = new Map<string, ModelTicket>()
  /** The unclosed ticket of each key. */
  readonly holders = new Map<string, string>()

  create(id: string, title: string, key: string | undefined): void {
    this.tickets.set(id, { status: 'open', level: 'low', title, key, comments: [], changes: 1 })
    if (key !== undefined) this.holders.set(key, id)
  }

  /** The number of events that the edit emits, or undefined when it is refused. */
  edit(id: string, edit: TicketEdit): number | undefined {
    const ticket = this.tickets.get(id) ?? assert.fail()
    const { status = ticket.status, level = ticket.level, title = ticket.title, comment } = edit
    if (status !== ticket.status && !MOVES[ticket.status].split(' ').includes(status)) return undefined
    const isSame = status === ticket.status && level === ticket.level && title === ticket.title
    if (isSame && comment === undefined) return 0
    this.#holdKey(id, ticket, status)
    Object.assign(ticket, { status, level, title, changes: ticket.changes + 1 })
    if (comment !== undefined) ticket.comments.push(comment)
    return 1
  }

  #holdKey(id: string, { key, status: before }: ModelTicket, status: TicketStatus): void {
    if (key === undefined) return
    if (status === 'closed' && this.holders.get(key) === id) this.holders.delete(key)
    if (before === 'closed' && status !== 'closed' && !this.holders.has(key)) this.holders.set(key, id)
  }
}

type Step =
  | { readonly kind: 'create'; readonly title: string; readonly key: string | undefined }
  | { readonly kind: 'edit'; readonly ticket: number; readonly edit: TicketEdit }

const title = fc.constantFrom('one', 'two')
const aStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      title,
      key: fc.option(fc.constantFrom(...KEYS), { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('edit' as const),
      ticket: fc.nat(),
      edit: fc.record(
        {
          status: fc.constantFrom(...TICKET_STATUSES),
          level: fc.constantFrom(...TICKET_LEVELS),
          title,
          comment: fc.constantFrom('first', 'second'),
        },
        { requiredKeys: [] },
      ),
    }),
  },
)

type World = Awaited<ReturnType<typeof ticketWorld>>

async function create({ tickets }: World, model: Model, step: Extract<Step, { kind: 'create' }>) {
  const { title: wantedTitle, key } = step
  const wanted = { title: wantedTitle, level: 'low', ...(key !== undefined && { dedupKey: key }) } as const
  const { ticket, outcome } = await tickets.create(wanted, 'client')
  const holder = key === undefined ? undefined : model.holders.get(key)
  assert.equal(outcome, holder === undefined ? 'created' : 'unchanged')
  if (holder === undefined) model.create(ticket.id, wantedTitle, key)
  else assert.equal(ticket.id, holder)
}

async function edit(w: World, model: Model, step: Extract<Step, { kind: 'edit' }>): Promise<void> {
  const ids = [...model.tickets.keys()]
  const id = ids[step.ticket % ids.length]
  if (id === undefined) return
  const events = w.events.length
  const expected = model.edit(id, step.edit)
  const code = await w.tickets.edit(id, step.edit, 'client').then(
    () => undefined,
    (error: AppError) => error.code,
  )
  assert.equal(code, expected === undefined ? 'invalid_transition' : undefined)
  assert.equal(w.events.length - events, expected ?? 0)
}

async function assertMatches({ tickets }: World, model: Model): Promise<void> {
  for (const [id, expected] of model.tickets) {
    const {
      status,
      level,
      title: actualTitle,
      comments,
      version,
      commentCount,
      ...times
    } = await tickets.get(id)
    const texts = comments.map(({ text }) => text)
    assert.deepEqual(
      { status, level, title: actualTitle, comments: texts, changes: version },
      {
        status,
        level: expected.level,
        title: expected.title,
        comments: expected.comments,
        changes: expected.changes,
      },
    )
    assert.equal(status, expected.status)
    assert.equal(commentCount, comments.length)
    assert.equal(times.closedAt !== null, status === 'closed')
    if (status === 'open' || status === 'in_progress') assert.equal(times.resolvedAt, null)
    const { items } = await tickets.history(id, WHOLE_HISTORY)
    assert.equal(items.length, version)
    // The history, replayed, gives the ticket.
    const replayed = Object.assign({}, ...items.map(({ changes }) => lastValues(changes)))
    assert.deepEqual([replayed.status, replayed.level, replayed.title], [status, level, actualTitle])
  }
}

function lastValues(changes: Readonly<Record<string, readonly (string | null)[]>>) {
  return Object.fromEntries(Object.entries(changes).map(([field, [, to]]) => [field, to]))
}

onEveryDialect('a model of the tickets', (dialect) => {
  test('agrees with any creations and edits', async (t: TestContext) => {
    await using w = await ticketWorld(dialect)
    await fc.assert(
      fc.asyncProperty(fc.array(aStep, { minLength: 3, maxLength: 25 }), async (steps) => {
        const model = new Model()
        for (const step of steps)
          await (step.kind === 'create' ? create(w, model, step) : edit(w, model, step))
        await assertMatches(w, model)
        // The keys are free for the next run.
        for (const id of model.holders.values()) await w.tickets.edit(id, { status: 'closed' }, 'client')
      }),
      { seed: chanceOf(t).seed, numRuns: RUNS[dialect] },
    )
  })
})
