import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseServer } from './postgres-server.ts'

const standby = { writable: false, timeline: 0 }
const primary = (timeline: number) => ({ writable: true, timeline })

test('a server that takes changes is chosen, wherever it is in the list', () => {
  assert.equal(chooseServer([standby, primary(1), undefined], 'read-write'), 1)
  assert.equal(chooseServer([standby, undefined], 'read-write'), undefined)
})

test('of two servers that take changes the one that was promoted last is chosen', () => {
  assert.equal(chooseServer([primary(1), primary(2)], 'read-write', 0), 1)
})

test('of equal servers the one in use stays, and else the first is chosen', () => {
  assert.equal(chooseServer([primary(1), primary(1)], 'read-write', 1), 1)
  assert.equal(chooseServer([primary(1), primary(1)], 'read-write'), 0)
})

test('without a wish any server that answers is chosen', () => {
  assert.equal(chooseServer([undefined, standby, primary(9)], 'any'), 1)
  assert.equal(chooseServer([undefined], 'any'), undefined)
})
