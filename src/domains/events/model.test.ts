import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Identity, Role } from '../../kernel/identity.ts'
import { matchesPattern, type DeclaredSubject } from '../../kernel/events.ts'
import { formatPlaces, LOGS, parsePlaces, subscribe } from './model.ts'

const DECLARED: readonly DeclaredSubject[] = [
  { subject: 'order.created', readers: ['admin', 'devops'] },
  { subject: 'order.paid', readers: ['admin', 'devops'] },
  { subject: 'alert.raised', readers: ['admin', 'auditor'] },
  { subject: 'telemetry.agent.*', readers: ['admin', 'devops'] },
]

const caller = (...roles: Role[]): Identity => ({ id: 'a', name: 'a', roles, via: 'token' })

describe('patterns', () => {
  const cases: readonly [pattern: string, subject: string, matches: boolean][] = [
    ['order.paid', 'order.paid', true],
    ['order.paid', 'order.paid2', false],
    ['order.*', 'order.paid', true],
    ['order.*', 'order', false],
    ['order.*', 'orders.paid', false],
    ['order.p*', 'order.paid', true],
    ['vpn.*', 'vpn.audit.session_closed', true],
    ['*', 'order.paid', true],
  ]
  for (const [pattern, subject, matches] of cases)
    test(`${pattern} ${matches ? 'matches' : 'does not match'} ${subject}`, () =>
      assert.equal(matchesPattern(pattern, subject), matches))
})

describe('subscriptions', () => {
  const selected = (identity: Identity, patterns?: readonly string[]) => {
    const subscription = subscribe(DECLARED, patterns, identity)
    const subjects = ['order.created', 'order.paid', 'alert.raised', 'telemetry.agent.a', 'other.event']
    return subjects.filter((subject) => subscription.matches(subject))
  }

  test('have the subjects that both the client wants and the caller may read', () => {
    const subjectsOf = (...patterns: string[]) => subscribe(DECLARED, patterns, caller('admin')).subjects
    assert.deepEqual(subjectsOf('order.*', 'telemetry.agent.a', 'order.paid'), [
      'order.created',
      'order.paid',
      'telemetry.agent.a',
    ])
    assert.deepEqual(subjectsOf('tele*'), ['telemetry.agent.*'])
    assert.deepEqual(subscribe(DECLARED, undefined, caller('auditor')).subjects, ['alert.raised'])
  })

  test('without subjects a caller gets all that it may read', () => {
    assert.deepEqual(selected(caller('auditor')), ['alert.raised'])
    assert.deepEqual(selected(caller('auditor', 'devops')).length, 4)
    assert.deepEqual(selected(caller()), [])
  })

  test('subjects select events, and never one that no domain declares', () => {
    assert.deepEqual(selected(caller('admin'), ['order.*', 'telemetry.agent.a']), [
      'order.created',
      'order.paid',
      'telemetry.agent.a',
    ])
    assert.deepEqual(selected(caller('admin'), ['*']).length, 4)
  })

  for (const pattern of ['order', 'order.', 'other.*', 'telemetry.agent', 'telemetry.agent.', '.*'])
    test(`no event has the subject ${pattern}`, () =>
      assert.throws(() => subscribe(DECLARED, ['order.*', pattern], caller('admin')), {
        code: 'validation_failed',
      }))

  for (const pattern of ['order.paid', 'order.*', '*', 'telemetry.agent.a', 'telemetry.agent.a*', 'tele*'])
    test(`an auditor may not read ${pattern}`, () =>
      assert.throws(() => subscribe(DECLARED, ['alert.*', pattern], caller('auditor')), {
        code: 'forbidden',
      }))

  test('subscriptions to the same events have the same key', () => {
    const keyOf = (...patterns: string[]) => subscribe(DECLARED, patterns, caller('admin')).key
    assert.equal(keyOf('order.paid', 'alert.*'), keyOf('alert.*', 'order.paid', 'order.paid'))
    assert.notEqual(keyOf('order.paid'), keyOf('order.*'))
  })

  test('a subscription overlaps the subjects that it may have events on', () => {
    const subscription = subscribe(DECLARED, undefined, caller('auditor'))
    assert.equal(subscription.overlaps(DECLARED.slice(0, 2)), false)
    assert.equal(subscription.overlaps(DECLARED), true)
  })
})

for (const [id, places, logs] of [
  ['17-4', { messages: 17, telemetry: 4 }, LOGS],
  ['0-0', { messages: 0, telemetry: 0 }, LOGS],
  ['17', { messages: 17 }, ['messages']],
  ['9007199254740991', { messages: Number.MAX_SAFE_INTEGER }, ['messages']],
  ['-4', { telemetry: 4 }, ['telemetry']],
] as const)
  test(`the position of ${logs.join(' and ')} has the id ${id}`, () => {
    assert.equal(formatPlaces({ messages: 0, telemetry: 0, ...places }, logs), id)
    assert.deepEqual(parsePlaces(id, logs), places)
  })

test('of an id with both places a subscription to one log takes its own', () => {
  assert.deepEqual(parsePlaces('17-4', ['messages']), { messages: 17 })
  assert.deepEqual(parsePlaces('17-4', ['telemetry']), { telemetry: 4 })
})

for (const text of [
  '',
  'x',
  '1-',
  '-',
  '-1',
  '1',
  '1.5-1',
  ' 1-1',
  '1-1 ',
  '+1-1',
  '9007199254740992-1',
  '1-2-3',
  '1-x',
])
  test(`${JSON.stringify(text)} is no id of a subscription to both logs`, () =>
    assert.equal(parsePlaces(text, LOGS), undefined))

test('a place alone is no id of the other log', () => {
  assert.equal(parsePlaces('17', ['telemetry']), undefined)
  assert.equal(parsePlaces('-4', ['messages']), undefined)
})
