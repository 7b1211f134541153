import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeySequence } from './use-keyboard.ts'
import { matchActions, recentFirst } from './match.ts'

const KNOWN = ['/', '?', 'g o', 'g a', 'o', 'Ctrl-k']

/** The keys that were recognized while these were pressed, each 100 ms after the other. */
const pressed = (keys: readonly string[], pauseMs = 100) => {
  const sequence = new KeySequence()
  return keys.map((key, index) => sequence.press(key, index * pauseMs, KNOWN) ?? '-').join(' | ')
}

test('one key, and two keys one after the other', () => {
  assert.equal(pressed(['/', 'g', 'o', 'Ctrl-k']), '/ | - | g o | Ctrl-k')
})

test('a key that does not continue a sequence counts for itself', () => {
  assert.equal(pressed(['g', '?', 'g', 'x', 'o']), '- | ? | - | - | o')
})

test('after a pause a sequence begins again', () => {
  assert.equal(pressed(['g', 'o'], 2_000), '- | o')
})

test('an action is found by its keywords, behind the titles', () => {
  const actions = [
    { title: 'Go to Executions', keywords: 'runs approval 审批', run: () => undefined },
    { title: 'Request approval', run: () => undefined },
  ]
  const titles = (text: string) => matchActions(actions, text).map(({ title }) => title)
  assert.deepEqual(titles('Appro'), ['Request approval', 'Go to Executions'])
  assert.deepEqual(titles('go approval'), ['Go to Executions'])
  assert.deepEqual(titles('审批'), ['Go to Executions'])
})

test('an action matches with each word of the text; the beginning counts most', () => {
  const actions = ['New order', 'Go to Orders', 'Orders of today'].map((title) => ({
    title,
    run: () => undefined,
  }))
  const titles = (text: string) => matchActions(actions, text).map(({ title }) => title)
  assert.deepEqual(titles('order'), ['Orders of today', 'New order', 'Go to Orders'])
  assert.deepEqual(titles('order go'), ['Go to Orders'])
  assert.deepEqual(titles(''), ['New order', 'Go to Orders', 'Orders of today'])
})

test('the action that was used last is first, also among equally good matches', () => {
  const actions = ['Go to Alerts', 'Go to Orders', 'Sign out'].map((title) => ({
    title,
    run: () => undefined,
  }))
  const sorted = recentFirst(actions, ['Sign out', 'Go to Orders', 'Gone'])
  const titles = (text: string) => matchActions(sorted, text).map(({ title }) => title)
  assert.deepEqual(titles(''), ['Sign out', 'Go to Orders', 'Go to Alerts'])
  assert.deepEqual(titles('go'), ['Go to Orders', 'Go to Alerts'])
})
