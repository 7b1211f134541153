import assert from 'node:assert/strict'

/** The order machine in short, from docs/specification.md, Orders. */
export const MOVES = {
  pending: ['paid', 'expired'],
  paid: ['shipped', 'completed'],
  shipped: ['completed'],
  completed: [],
  expired: [],
} as const satisfies Record<string, readonly string[]>
export type Status = keyof typeof MOVES
export const STATUSES = Object.keys(MOVES) as Status[]

const EVENTS: Readonly<Record<Status, string>> = {
  pending: 'order.created',
  paid: 'order.paid',
  shipped: 'order.shipped',
  completed: 'order.completed',
  expired: 'order.timeout',
}

/** A time that every scan is behind. */
export const LONG_AGO = '2020-01-01T00:00:00.000Z'

export interface NewOrder {
  readonly order_id: string
  readonly platform: string
  readonly amount_cents: number
  readonly expires_at?: string
}

export interface Order extends Required<NewOrder> {
  readonly status: Status
  readonly created_at: string
  readonly updated_at: string
  readonly paid_at: string | null
  readonly shipped_at: string | null
  readonly completed_at: string | null
  readonly expired_at: string | null
}

/** One change as the history tells it; the first one, which is version 1, has `from` null. */
export interface Change {
  readonly at: string
  readonly from: Status | null
  readonly to: Status
  readonly actor: string
}

export type Asked =
  | { readonly kind: 'create'; readonly order: NewOrder }
  | { readonly kind: 'move'; readonly to: Status; readonly match: Match }
  | { readonly kind: 'read' }

/** An `If-Match` header and the versions that it lets through; undefined lets all through. */
export interface Match {
  readonly header?: string
  readonly versions?: readonly number[]
}

/** A call and what came back. */
export interface Exchange {
  readonly asked: Asked
  readonly actor: string
  /** The newest version of the order that anybody had seen when the call was sent; 0 for none. */
  readonly seenBefore: number
  readonly status: number
  readonly code: string | undefined
  /** Number in the entity tag. */
  readonly version: number
  readonly order: Order | undefined
}

/** Everything that is known of an order once nothing moves any more. */
export interface Story {
  readonly order: Order
  readonly version: number
  readonly history: readonly Change[]
  readonly exchanges: readonly Exchange[]
  /** Types and data of the events about it, in the order of the outbox. */
  readonly events: readonly { readonly type: string; readonly data: Order }[]
  /** How often an alert was raised for it. */
  readonly alerts: number
}

const canMove = (from: Status, to: Status) => (MOVES[from] as readonly Status[]).includes(to)

/** Fails unless everything that was seen of the order is one path through its states, with one event for each change. */
export function assertExplained(story: Story): void {
  assertLegalPath(story)
  assertEvents(story)
  for (const exchange of story.exchanges) assertExchange(story, exchange)
  assertAuthors(story)
}

function assertLegalPath({ order, version, history }: Story): void {
  const [creation, ...moves] = history
  assert.deepEqual([creation?.from, creation?.to], [null, 'pending'])
  let last = creation as Change
  for (const move of moves) {
    assert.equal(move.from, last.to, 'a change begins where the last one ended')
    assert.ok(canMove(last.to, move.to), `${last.to} → ${move.to} is no move`)
    assert.ok(move.at >= last.at, 'time goes on')
    last = move
  }
  assert.deepEqual([order.status, order.updated_at, version], [last.to, last.at, history.length])
  const at = (status: Status) => moves.find(({ to }) => to === status)?.at ?? null
  const times = [order.created_at, order.paid_at, order.shipped_at, order.completed_at, order.expired_at]
  assert.deepEqual(times, [creation?.at, at('paid'), at('shipped'), at('completed'), at('expired')])
  if (order.expires_at === LONG_AGO)
    assert.notEqual(order.status, 'pending', 'a due order does not stay pending')
}

function assertEvents({ history, events, alerts, order }: Story): void {
  const announced = events.map(({ type, data }) => [type, data.status, data.updated_at])
  assert.deepEqual(
    announced,
    history.map(({ to, at }) => [EVENTS[to], to, at]),
    'one event for each change, in its order',
  )
  assert.deepEqual(events.at(-1)?.data, order)
  assert.equal(alerts, order.status === 'expired' ? 1 : 0, 'one alert for an order that expired')
}

/** Each change has an author, who got a response with it. */
function assertAuthors({ history, exchanges }: Story): void {
  for (const [index, { actor, to }] of history.entries()) {
    if (actor === 'worker') {
      assert.equal(to, 'expired', 'the worker does nothing but expire')
      continue
    }
    const answers = exchanges.filter(
      (each) => each.actor === actor && each.version === index + 1 && each.order?.status === to,
    )
    const expected = index === 0 ? 201 : 200
    assert.ok(
      answers.some(
        ({ status, asked }) => status === expected && asked.kind === (index === 0 ? 'create' : 'move'),
      ),
      `${actor} got no response with its change to ${to}`,
    )
  }
  assert.equal(exchanges.filter(({ status }) => status === 201).length, 1, 'an order is made once')
}

function assertExchange(story: Story, exchange: Exchange): void {
  const explains = EXPLANATIONS[`${exchange.asked.kind} ${exchange.status} ${exchange.code ?? ''}`.trim()]
  assert.ok(
    explains?.(exchange, story),
    `nothing explains ${JSON.stringify(exchange)} in ${JSON.stringify(story.history)}`,
  )
}

type Explanation = (exchange: Exchange, story: Story) => boolean

/** The answer shows a version that there was, and none older than what had been seen before. */
const isFresh: Explanation = ({ version, seenBefore, order }, { history }) =>
  version >= seenBefore && history[version - 1]?.to === order?.status

/** The state that the call met: one that is not older than what had been seen before. */
function mayHaveMet(
  { history }: Story,
  seenBefore: number,
  test: (status: Status, version: number) => boolean,
): boolean {
  return history.some(({ to }, index) => index + 1 >= seenBefore && test(to, index + 1))
}

function isSame(wanted: NewOrder, { platform, amount_cents, expires_at }: Order): boolean {
  return (
    wanted.platform === platform &&
    wanted.amount_cents === amount_cents &&
    (wanted.expires_at === undefined || wanted.expires_at === expires_at)
  )
}

/** Each answer that a call may get, with what must be true when it does. */
const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  'create 201': ({ version, seenBefore, asked, order }) =>
    seenBefore === 0 &&
    version === 1 &&
    asked.kind === 'create' &&
    order !== undefined &&
    isSame(asked.order, order),
  'create 200': (exchange, story) =>
    isFresh(exchange, story) && exchange.asked.kind === 'create' && isSame(exchange.asked.order, story.order),
  'create 409 order_exists': ({ asked }, { order }) => asked.kind === 'create' && !isSame(asked.order, order),
  'read 200': isFresh,
  'read 404 order_not_found': ({ seenBefore }) => seenBefore === 0,
  'move 404 order_not_found': ({ seenBefore }) => seenBefore === 0,
  'move 200': (exchange, story) => {
    const { asked, version, order } = exchange
    if (asked.kind !== 'move' || order?.status !== asked.to || !isFresh(exchange, story)) return false
    // It was there already, or has come from the version before.
    return asked.match.versions?.some((each) => each === version || each === version - 1) ?? true
  },
  'move 409 invalid_transition': ({ asked, seenBefore }, story) =>
    asked.kind === 'move' &&
    mayHaveMet(story, seenBefore, (status, version) => {
      const matches = asked.match.versions?.includes(version) ?? true
      return matches && status !== asked.to && !canMove(status, asked.to)
    }),
  'move 412 precondition_failed': ({ asked, seenBefore }, story) =>
    asked.kind === 'move' &&
    mayHaveMet(story, seenBefore, (_, version) => asked.match.versions?.includes(version) === false),
}
