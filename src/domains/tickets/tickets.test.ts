import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEveryDialect } from '../../../test/support/store.ts'
import { FIRST_PAGE, ticketWorld, USER_ID, WHOLE_HISTORY } from '../../../test/support/tickets.ts'
import type { PageRequest } from '../../kernel/page.ts'
import { TICKET_MOVES, TICKET_STATUSES, type TicketStatus } from './model.ts'

const WANTED = { title: 'The shop does not answer', level: 'high' } as const
const KEYED = { ...WANTED, dedupKey: 'shop.down' }

/** The move that brings a new ticket into a status. */
const MOVE_TO: Readonly<Record<TicketStatus, readonly TicketStatus[]>> = {
  open: [],
  in_progress: ['in_progress'],
  resolved: ['resolved'],
  closed: ['closed'],
}

async function world(dialect: Parameters<typeof ticketWorld>[0]) {
  const w = await ticketWorld(dialect)
  const ticketIn = async (status: TicketStatus) => {
    const { ticket } = await w.tickets.create(WANTED, 'client')
    for (const next of MOVE_TO[status]) await w.tickets.edit(ticket.id, { status: next }, 'client')
    return w.tickets.get(ticket.id)
  }
  return { ...w, ticketIn }
}

onEveryDialect('tickets', (dialect) => {
  test('a new ticket is open, has the given texts, and emits one event with the whole ticket', async () => {
    await using w = await world(dialect)
    const wanted = { ...KEYED, description: 'Since noon.', source: 'shop' }
    const { ticket, outcome } = await w.tickets.create(wanted, 'client')
    assert.equal(outcome, 'created')
    const { status, description, source, createdBy, assignee, commentCount, version } = ticket
    assert.deepEqual(
      [status, description, source, createdBy, assignee, commentCount, version],
      ['open', 'Since noon.', 'shop', 'client', null, 0, 1],
    )
    assert.deepEqual(await w.tickets.get(ticket.id), ticket)
    assert.deepEqual(w.events, [{ type: 'ticket.created', subject: ticket.id, data: ticket }])
  })

  for (const from of TICKET_STATUSES) {
    for (const to of TICKET_STATUSES) {
      const isAllowed = TICKET_MOVES[from].includes(to)
      const expectation = from === to ? 'changes nothing' : isAllowed ? 'succeeds' : 'is refused'
      test(`moving a ticket from ${from} to ${to} ${expectation}`, async () => {
        await using w = await world(dialect)
        const before = await w.ticketIn(from)
        const eventsBefore = w.events.length
        w.clock.advance(1_000)
        if (from !== to && !isAllowed) {
          await assert.rejects(w.tickets.edit(before.id, { status: to, comment: 'no' }, 'client'), {
            code: 'invalid_transition',
            message: `A ticket that is ${from} cannot become ${to}; allowed: ${TICKET_MOVES[from].join(', ')}.`,
          })
          assert.deepEqual(await w.tickets.get(before.id), before)
        } else {
          const after = await w.tickets.edit(before.id, { status: to }, 'client')
          assert.equal(after.status, to)
          assert.deepEqual(await w.tickets.get(before.id), after)
          if (from === to) assert.deepEqual(after, before)
        }
        assert.equal(w.events.length - eventsBefore, isAllowed ? 1 : 0)
      })
    }
  }

  test('the times of the resolution and of the closing are kept until the ticket is reopened', async () => {
    await using w = await world(dialect)
    const { id, createdAt } = await w.ticketIn('open')
    const times = async (status: TicketStatus) => {
      w.clock.advance(1_000)
      const { resolvedAt, closedAt } = await w.tickets.edit(id, { status }, 'client')
      return [resolvedAt, closedAt]
    }
    assert.deepEqual(await times('resolved'), [createdAt + 1_000, null])
    assert.deepEqual(await times('closed'), [createdAt + 1_000, createdAt + 2_000])
    assert.deepEqual(await times('open'), [null, null])
    assert.deepEqual(await times('closed'), [null, createdAt + 4_000])
  })

  test('an unchanged field changes nothing and emits no event; other fields of the same edit do', async () => {
    await using w = await world(dialect)
    const before = await w.ticketIn('in_progress')
    const events = w.events.length
    w.clock.advance(1_000)
    const same = { status: 'in_progress', level: 'high', title: WANTED.title, assignee: null } as const
    assert.deepEqual(await w.tickets.edit(before.id, same, 'other'), before)
    assert.equal(w.events.length, events)
    const after = await w.tickets.edit(before.id, { ...same, level: 'low' }, 'other')
    assert.deepEqual([after.level, after.version, after.updatedAt], ['low', 3, w.clock.now()])
    const { items } = await w.tickets.history(before.id, WHOLE_HISTORY)
    assert.deepEqual(items.at(-1), {
      at: w.clock.now(),
      actor: 'other',
      changes: { level: ['high', 'low'] },
    })
  })

  test('a comment is an entry of the ticket, of its history and of its event', async () => {
    await using w = await world(dialect)
    const { id } = await w.ticketIn('open')
    w.clock.advance(1_000)
    await w.tickets.edit(id, { comment: 'Looking.' }, 'ada')
    const ticket = await w.tickets.edit(id, { comment: 'Found it.', status: 'resolved' }, 'bob')
    assert.deepEqual(
      ticket.comments.map(({ author, text }) => [author, text]),
      [
        ['ada', 'Looking.'],
        ['bob', 'Found it.'],
      ],
    )
    assert.equal(ticket.commentCount, 2)
    assert.deepEqual(w.events.at(-1), { type: 'ticket.updated', subject: id, data: ticket })
    const { items } = await w.tickets.history(id, WHOLE_HISTORY)
    assert.deepEqual(
      items.map(({ actor, changes }) => [actor, changes]),
      [
        ['client', { status: [null, 'open'], level: [null, 'high'], title: [null, WANTED.title] }],
        ['ada', { comment: [null, 'Looking.'] }],
        ['bob', { status: ['open', 'resolved'], comment: [null, 'Found it.'] }],
      ],
    )
  })

  test('a comment mentions a user by name, and the list finds the tickets that do', async () => {
    await using w = await world(dialect)
    const [one, two] = [await w.ticketIn('open'), await w.ticketIn('open')]
    for (const comment of [`@${USER_ID}, please look`, `Again: @${USER_ID}.`])
      await w.tickets.edit(one.id, { comment }, 'bob')
    await w.tickets.edit(two.id, { comment: `mail to root@${USER_ID} and @nobody` }, 'bob')
    const mentioned = async (id: string) => (await w.tickets.list({ mentioned: id }, FIRST_PAGE)).items
    assert.deepEqual(
      (await mentioned(USER_ID)).map(({ id }) => id),
      [one.id],
    )
    assert.deepEqual(await mentioned('nobody'), [])
  })

  test('a ticket and its event have the newest 50 comments, and a list of its own has all', async () => {
    await using w = await world(dialect)
    const { id } = await w.ticketIn('open')
    for (let count = 1; count <= 60; count++) await w.tickets.edit(id, { comment: `${count}` }, 'ada')
    const { comments, commentCount } = await w.tickets.get(id)
    const newest = Array.from({ length: 50 }, (_, index) => `${index + 11}`)
    const texts = (all: readonly { readonly text: string }[]) => all.map(({ text }) => text)
    assert.deepEqual([texts(comments), commentCount], [newest, 60])
    assert.deepEqual(texts(w.events.at(-1)?.data.comments ?? []), newest)
    const first = await w.tickets.comments(id, { limit: 55 })
    const second = await w.tickets.comments(id, { limit: 55, after: first.next })
    const all = texts([...first.items, ...second.items])
    assert.deepEqual([all.length, all[0], all.at(-1), second.next], [60, '60', '1', null])
    await assert.rejects(w.tickets.comments('unknown', { limit: 1 }), { code: 'ticket_not_found' })
  })

  test('an event leaves out the oldest comments when all of them would be too large for the bus', async () => {
    await using w = await world(dialect)
    const { id } = await w.ticketIn('open')
    // A control character takes six bytes of JSON.
    const comment = '\u0001'.repeat(4_090)
    for (let count = 10; count < 35; count++)
      await w.tickets.edit(id, { comment: `${comment}${count}` }, 'ada')
    assert.equal((await w.tickets.get(id)).comments.length, 25)
    const { data } = w.events.at(-1) ?? assert.fail()
    assert.equal(data.commentCount, 25)
    assert.equal(data.comments.length, 21)
    assert.match(data.comments.at(-1)?.text ?? '', /34$/)
    assert.ok(Buffer.byteLength(JSON.stringify(data)) < 1024 * 1024)
  })

  test('the history is read page by page, oldest first', async () => {
    await using w = await world(dialect)
    const { id } = await w.ticketIn('open')
    for (const comment of ['1', '2', '3']) await w.tickets.edit(id, { comment }, 'ada')
    const first = await w.tickets.history(id, { ...WHOLE_HISTORY, limit: 3 })
    const second = await w.tickets.history(id, { ...WHOLE_HISTORY, after: first.next })
    const comments = [...first.items, ...second.items].map(({ changes }) => changes['comment']?.[1])
    assert.deepEqual([comments, second.next], [[undefined, '1', '2', '3'], null])
  })

  test('only a user can be assigned; the assignee can be removed', async () => {
    await using w = await world(dialect)
    await assert.rejects(w.tickets.create({ ...KEYED, assignee: 'nobody' }, 'client'), {
      code: 'validation_failed',
    })
    const { ticket } = await w.tickets.create({ ...KEYED, assignee: USER_ID }, 'client')
    assert.equal(ticket.assignee, USER_ID)
    const [creation] = (await w.tickets.history(ticket.id, WHOLE_HISTORY)).items
    assert.deepEqual(creation?.changes['assignee'], [null, USER_ID])
    const { id } = await w.ticketIn('open')
    await assert.rejects(w.tickets.edit(id, { assignee: 'nobody', comment: 'yours' }, 'client'), {
      code: 'validation_failed',
    })
    assert.equal((await w.tickets.get(id)).commentCount, 0)
    assert.equal((await w.tickets.edit(id, { assignee: USER_ID }, 'client')).assignee, USER_ID)
    assert.equal((await w.tickets.edit(id, { assignee: null }, 'client')).assignee, null)
  })

  test('an edit of another version than the expected one is refused', async () => {
    await using w = await world(dialect)
    const { id } = await w.ticketIn('in_progress')
    await assert.rejects(w.tickets.edit(id, { level: 'low' }, 'client', [1]), { code: 'precondition_failed' })
    assert.equal((await w.tickets.edit(id, { level: 'low' }, 'client', [1, 2])).version, 3)
  })

  test('an unknown ticket is refused everywhere', async () => {
    await using w = await world(dialect)
    const unknown = { code: 'ticket_not_found' }
    await assert.rejects(w.tickets.get('nowhere'), unknown)
    await assert.rejects(w.tickets.history('nowhere', WHOLE_HISTORY), unknown)
    await assert.rejects(w.tickets.edit('nowhere', { level: 'low' }, 'client'), unknown)
  })

  test('lists are newest first and filter by each field; a cursor neither skips nor repeats', async () => {
    await using w = await world(dialect)
    for (let index = 0; index < 5; index++)
      await w.tickets.create({ ...WANTED, title: `ticket ${index}`, source: `source-${index % 2}` }, 'client')
    const titles = async (filter: Parameters<typeof w.tickets.list>[0], page: PageRequest = FIRST_PAGE) =>
      (await w.tickets.list(filter, page)).items.map(({ title }) => title)
    assert.deepEqual(await titles({ source: 'source-1' }), ['ticket 3', 'ticket 1'])
    const first = await w.tickets.list({}, { ...FIRST_PAGE, limit: 3 })
    await w.tickets.create(WANTED, 'client')
    assert.deepEqual(await titles({}, { limit: 3, after: first.next }), ['ticket 1', 'ticket 0'])
    const [, last = assert.fail()] = first.items
    await w.tickets.edit(last.id, { status: 'closed', level: 'info', assignee: USER_ID }, 'client')
    for (const filter of [{ status: 'closed' }, { level: 'info' }, { assignee: USER_ID }] as const)
      assert.deepEqual(await titles(filter), ['ticket 3'])
    assert.deepEqual(await titles({ status: 'unclosed' }), [
      WANTED.title,
      'ticket 4',
      'ticket 2',
      'ticket 1',
      'ticket 0',
    ])
    assert.deepEqual(await titles({ status: 'unclosed', source: 'source-1' }), ['ticket 1'])
    assert.deepEqual(await titles({ status: ['closed', 'in_progress'] }), ['ticket 3'])
    for (const status of [
      ['open', 'closed'],
      ['unclosed', 'open', 'closed'],
    ] as const)
      assert.equal((await titles({ status })).length, 6)
    const since = { ...FIRST_PAGE, createdFrom: w.clock.now() + 1 }
    assert.deepEqual(await titles({}, since), [])
    assert.ok(!('description' in last))
  })

  test('lists find a part of the title or of the source, in capital or small letters', async () => {
    await using w = await world(dialect)
    for (const [title, source] of [
      ['The Shop is away', 'probe'],
      ['100% of the disk', 'shop.disk'],
      ['店铺没有响应', null],
    ] as const)
      await w.tickets.create({ title, level: 'low', ...(source && { source }) }, 'client')
    const titles = async (filter: Parameters<typeof w.tickets.list>[0]) =>
      (await w.tickets.list(filter, FIRST_PAGE)).items.map(({ title }) => title)
    assert.deepEqual(await titles({ text: 'SHOP' }), ['100% of the disk', 'The Shop is away'])
    assert.deepEqual(await titles({ text: 'shop', source: 'probe' }), ['The Shop is away'])
    assert.deepEqual(await titles({ text: '没有' }), ['店铺没有响应'])
    assert.deepEqual(await titles({ text: '0%' }), ['100% of the disk'])
    for (const text of ['%', '_', "'"]) assert.equal((await titles({ text })).length, text === '%' ? 1 : 0)
  })

  test('unclosed tickets are counted by level', async () => {
    await using w = await world(dialect)
    await w.ticketIn('closed')
    await w.ticketIn('resolved')
    await w.tickets.create({ ...WANTED, level: 'critical' }, 'client')
    const counts = new Map((await w.tickets.countUnclosed()).map(({ level, tickets }) => [level, tickets]))
    assert.deepEqual([counts.get('high'), counts.get('critical'), counts.get('low')], [1, 1, undefined])
  })
})

onEveryDialect('dedup keys', (dialect) => {
  test('a key of an unclosed ticket answers with that ticket, unchanged and without an event', async () => {
    await using w = await world(dialect)
    const { ticket } = await w.tickets.create(KEYED, 'client')
    const resolved = await w.tickets.edit(ticket.id, { status: 'resolved', comment: 'done' }, 'client')
    assert.deepEqual(await w.tickets.create({ ...KEYED, title: 'again', level: 'low' }, 'other'), {
      ticket: resolved,
      outcome: 'unchanged',
    })
    assert.equal(w.events.length, 2)
  })

  test('closing a ticket releases its key', async () => {
    await using w = await world(dialect)
    const { ticket } = await w.tickets.create(KEYED, 'client')
    await w.tickets.edit(ticket.id, { status: 'closed' }, 'client')
    const again = await w.tickets.create(KEYED, 'client')
    assert.equal(again.outcome, 'created')
    assert.notEqual(again.ticket.id, ticket.id)
  })

  test('a reopened ticket takes its key again, unless another ticket holds it', async () => {
    await using w = await world(dialect)
    const { ticket: first } = await w.tickets.create(KEYED, 'client')
    await w.tickets.edit(first.id, { status: 'closed' }, 'client')
    await w.tickets.edit(first.id, { status: 'open' }, 'client')
    assert.equal((await w.tickets.create(KEYED, 'client')).ticket.id, first.id)
    await w.tickets.edit(first.id, { status: 'closed' }, 'client')
    const { ticket: second } = await w.tickets.create(KEYED, 'client')
    await w.tickets.edit(first.id, { status: 'open' }, 'client')
    assert.equal((await w.tickets.create(KEYED, 'client')).ticket.id, second.id)
    await w.tickets.edit(first.id, { status: 'closed' }, 'client')
    assert.equal((await w.tickets.create(KEYED, 'client')).ticket.id, second.id)
  })

  test('of concurrent creations from two stores one creates the ticket, and all answer with it', async () => {
    await using w = await world(dialect)
    for (let round = 0; round < 5; round++) {
      const wanted = { ...KEYED, dedupKey: `key-${round}` }
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (index % 2 === 0 ? w : w.another).tickets.create(wanted, 'client'),
        ),
      )
      assert.equal(answers.filter((answer) => answer.outcome === 'created').length, 1)
      assert.equal(new Set(answers.map((answer) => answer.ticket.id)).size, 1)
    }
    assert.equal(w.events.length + w.another.events.length, 5)
  })

  test('closing and creating at once from two stores leaves one unclosed ticket with the key', async () => {
    await using w = await world(dialect)
    for (let round = 0; round < 10; round++) {
      const { ticket } = await w.tickets.create(KEYED, 'client')
      const [, { ticket: answer }] = await Promise.all([
        w.tickets.edit(ticket.id, { status: 'closed' }, 'client'),
        w.another.tickets.create(KEYED, 'client'),
      ])
      const { ticket: holder } = await w.another.tickets.create(KEYED, 'client')
      assert.notEqual(holder.id, ticket.id)
      assert.ok([ticket.id, holder.id].includes(answer.id))
      const { items } = await w.tickets.list({ status: 'open' }, FIRST_PAGE)
      assert.deepEqual(
        items.map(({ id }) => id),
        [holder.id],
      )
      await w.tickets.edit(holder.id, { status: 'closed' }, 'client')
    }
  })
})
