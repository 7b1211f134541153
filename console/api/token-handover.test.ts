import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { TokenHandover } from './token-handover.ts'

const channels: BroadcastChannel[] = []
after(() => channels.forEach((channel) => channel.close()))

// Another tab answers within milliseconds.
const LONG_MS = 10_000
const SHORT_MS = 50

function openTab(name: string, token: string | null) {
  const channel = new BroadcastChannel(name)
  channels.push(channel)
  const clock = { ms: 0 }
  return { clock, handover: new TokenHandover({ channel, now: () => clock.ms, token: () => token }) }
}

test('a tab gets the token of the tab that has offered it for the same purpose, once', async () => {
  const [from, to] = [openTab('once', 'abc'), openTab('once', null)]
  from.handover.offer('/console/orders', 1_000)
  assert.equal(await to.handover.ask('/console/tickets', SHORT_MS), null)
  assert.equal(await to.handover.ask('/console/orders', LONG_MS), 'abc')
  assert.equal(await to.handover.ask('/console/orders', SHORT_MS), null)
})

test('an offer ends, and a tab without a token answers nobody', async () => {
  const [from, to, signedOut] = [openTab('ended', 'abc'), openTab('ended', null), openTab('ended', null)]
  from.handover.offer('/console/orders', 1_000)
  signedOut.handover.offer('/console/orders', 1_000)
  from.clock.ms = 1_001
  assert.equal(await to.handover.ask('/console/orders', SHORT_MS), null)
})

test('two tabs that ask at once do not take the answer of each other', async () => {
  const [from, one, other] = [openTab('two', 'abc'), openTab('two', null), openTab('two', null)]
  from.handover.offer('a', 1_000)
  const answers = await Promise.all([one.handover.ask('a', LONG_MS), other.handover.ask('b', SHORT_MS)])
  assert.deepEqual(answers, ['abc', null])
})
