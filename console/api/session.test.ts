import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConsoleSession } from './session.ts'

const tokenOf = (sub: string, roles: readonly string[] = ['auditor']) =>
  `e30.${Buffer.from(JSON.stringify({ sub, name: 'ada', roles })).toString('base64url')}.x`
const TOKEN = tokenOf('1')

function openSession(kept: string | null) {
  const store = {
    kept,
    read: () => store.kept,
    write: (token: string) => void (store.kept = token),
    clear: () => void (store.kept = null),
  }
  const opened = { count: 0 }
  return { store, opened, session: new ConsoleSession(store, () => (opened.count += 1)) }
}

test('a session begins with the kept token, and its roles decide', () => {
  const { session } = openSession(TOKEN)
  assert.equal(session.bearer.value?.name, 'ada')
  assert.equal(session.may('listAlerts'), true)
  assert.equal(session.may('listOrders'), false)
})

test('a refused token ends the session, an older one does not', () => {
  const { session, store } = openSession(null)
  session.signIn(TOKEN)
  session.refuse('older')
  assert.equal(store.kept, TOKEN)
  session.refuse(TOKEN)
  assert.deepEqual([store.kept, session.token.value, session.end.value], [null, null, 'refused'])
})

test('an interrupted session goes on after a sign-in of the same user', () => {
  const { session, store, opened } = openSession(TOKEN)
  session.interrupt()
  assert.deepEqual([store.kept, session.token.value, session.isInterrupted.value], [null, null, true])
  session.signIn(TOKEN)
  assert.deepEqual([opened.count, session.isInterrupted.value], [0, false])
})

test('the page is opened anew for another user and for other roles, not for the same user', () => {
  const { session, store, opened } = openSession(TOKEN)
  session.signOut()
  session.signIn(TOKEN)
  assert.deepEqual([opened.count, session.bearer.value?.id], [0, '1'])
  session.signOut()
  const other = tokenOf('2')
  session.signIn(other)
  assert.deepEqual([opened.count, store.kept, session.token.value], [1, other, null])
  session.signIn(tokenOf('2', ['admin']))
  assert.equal(opened.count, 2)
})

test('another user of a browser that keeps no token goes on in the same page', () => {
  const { session, store, opened } = openSession(TOKEN)
  store.write = () => undefined
  session.signOut()
  session.signIn(tokenOf('2'))
  assert.deepEqual([opened.count, session.bearer.value?.id], [0, '2'])
})

test('after a refused token the page stays that of its user, who goes on also with other roles', () => {
  const { session, opened } = openSession(TOKEN)
  session.refuse(TOKEN)
  assert.deepEqual([session.isInterrupted.value, session.bearer.value?.id], [true, '1'])
  session.signIn(tokenOf('1', ['admin']))
  assert.deepEqual([session.isInterrupted.value, session.may('listOrders'), opened.count], [false, true, 0])
})

test('another user, and a token that names nobody, never go on in the page of a refused token', () => {
  for (const sub of ['2', '']) {
    const { session, opened } = openSession(TOKEN)
    session.refuse(TOKEN)
    session.signIn(tokenOf(sub))
    assert.deepEqual([opened.count, session.token.value], [1, null])
  }
})
