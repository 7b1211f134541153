import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../../kernel/secret.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { FLOW_LIFETIME_MS, FlowStates, newBrowserKey } from './flow-state.ts'

const [KEY, OTHER_KEY] = ['0123456789abcdef0123456789abcdef', 'another key of the same length!!'].map(
  (text) => new Secret(text),
) as [Secret, Secret]
const clock = fakeClock()
const states = new FlowStates(() => [KEY], clock)
const browser = newBrowserKey()

test('a browser opens the sign-ins that it has begun, and gets what it began them with', () => {
  const begun = ['/one', '/two'].map((path) => states.begin(browser, path))
  const opened = begun.map(({ state }) => states.open(browser, state))
  assert.deepEqual(
    opened.map((flow) => flow?.binding),
    begun,
  )
  assert.deepEqual(
    opened.map((flow) => [flow?.returnTo, flow?.expiresAt]),
    [
      ['/one', clock.now() + FLOW_LIFETIME_MS],
      ['/two', clock.now() + FLOW_LIFETIME_MS],
    ],
  )
})

test('every sign-in has a state, a nonce and a verifier of its own, none of which shows another', () => {
  const all = Array.from({ length: 50 }, () => states.begin(browser, '/'))
  for (const name of ['state', 'nonce', 'codeVerifier'] as const)
    assert.equal(new Set(all.map((binding) => binding[name])).size, all.length)
  for (const { nonce, codeVerifier } of all) {
    assert.match(nonce, /^[\w-]{43}$/)
    // RFC 7636, section 4.1
    assert.match(codeVerifier, /^[\w-]{43}$/)
    assert.notEqual(nonce, codeVerifier)
  }
})

test('another process with the same key opens it, one with another key does not', () => {
  const { state } = states.begin(browser, '/')
  assert.ok(new FlowStates(() => [KEY], clock).open(browser, state))
  const other = new FlowStates(() => [OTHER_KEY], clock)
  assert.equal(other.open(browser, state), undefined)
})

test('a sign-in that began before a rotation of the keys opens with the same binding', () => {
  const binding = states.begin(browser, '/')
  const rotated = new FlowStates(() => [OTHER_KEY, KEY], clock)
  assert.deepEqual(rotated.open(browser, binding.state)?.binding, binding)
  assert.equal(states.open(browser, rotated.begin(browser, '/').state), undefined)
})

test('another browser does not open it', () => {
  assert.equal(states.open(newBrowserKey(), states.begin(browser, '/').state), undefined)
})

test('a state that was changed in any place does not open', () => {
  const { state } = states.begin(browser, '/console/')
  for (let at = 0; at < state.length; at++) {
    const changed = `${state.slice(0, at)}${state[at] === 'A' ? 'B' : 'A'}${state.slice(at + 1)}`
    assert.equal(states.open(browser, changed), undefined, String(at))
  }
  for (const length of [0, 1, 20, state.length - 1])
    assert.equal(states.open(browser, state.slice(0, length)), undefined)
})

test('a state has one spelling', () => {
  const { state } = states.begin(browser, '/')
  for (const other of [`${state}=`, `${state}!`, ` ${state}`, `${state}A`, state.replaceAll('_', '/')])
    assert.ok(other === state || states.open(browser, other) === undefined, other)
})
