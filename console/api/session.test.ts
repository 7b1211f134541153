import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConsoleSession } from './session.ts'

const claims = { sub: '1', name: 'ada', roles: ['auditor'] }
const TOKEN = `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`

function openSession(kept: string | null) {
  const store = {
    kept,
    read: () => store.kept,
    write: (token: string) => void (store.kept = token),
    clear: () => void (store.kept = null),
  }
  return { store, session: new ConsoleSession(store) }
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
