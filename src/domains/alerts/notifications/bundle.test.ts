import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GATHER_MS, nextBundle, type BundleOptions } from './bundle.ts'
import { messageOf, shortenMessage } from './message.ts'
import type { WaitingNotification } from './model.ts'

const NOW = 1_000_000
const OPTIONS: BundleOptions = { now: NOW, tokens: 10, fits: () => true, render: messageOf }

function waiting(id: string, overrides: Partial<WaitingNotification> = {}): WaitingNotification {
  const content = { title: `title ${id}`, alarmId: id, serverAddr: null, excerpt: 'details', note: null }
  const base = {
    alertId: `alert ${id}`,
    at: NOW - 5_000,
    occasion: 'raised',
    weight: 4,
    source: 's',
    dueAt: null,
    trace: null,
  } as const
  return { seq: 1, id, ...base, content, ...overrides }
}

const idsOf = (list: readonly WaitingNotification[], options: Partial<BundleOptions> = {}) =>
  nextBundle(list, { ...OPTIONS, ...options }).map(({ id }) => id)

test('a group waits until its second is over', () => {
  const at = NOW - GATHER_MS + 1
  assert.deepEqual(idsOf([waiting('a', { at })]), [])
  assert.deepEqual(idsOf([waiting('a', { at })], { now: NOW + 1 }), ['a'])
})

test('a group is complete when the clock was set back', () => {
  assert.deepEqual(idsOf([waiting('a', { at: NOW + 1 })]), ['a'])
})

test('the notifications of one source within a second are one message', () => {
  const at = NOW - 5_000
  const list = [
    waiting('a', { at }),
    waiting('b', { at: at + 500, source: 'other' }),
    waiting('c', { at: at + 999 }),
    waiting('d', { at: at + 1_000 }),
  ]
  assert.deepEqual(idsOf(list), ['a', 'c'])
})

test('more groups than messages are bundled, as many as fit', () => {
  const list = ['a', 'b', 'c', 'd'].map((id) => waiting(id, { source: id }))
  assert.deepEqual(idsOf(list, { tokens: 4 }), ['a'])
  assert.deepEqual(idsOf(list, { tokens: 3 }), ['a', 'b', 'c', 'd'])
  const fits: BundleOptions['fits'] = ({ text }) => text.split('\n').length <= 2
  assert.deepEqual(idsOf(list, { tokens: 3, fits }), ['a', 'b'])
})

test('CRITICAL alerts come first, with their earlier notifications before them', () => {
  const list = [
    waiting('a'),
    waiting('b', { alertId: 'x' }),
    waiting('c', { alertId: 'x', weight: 6 }),
    waiting('d', { source: 'other', weight: 6 }),
  ]
  assert.deepEqual(idsOf(list, { tokens: 1 }), ['b', 'c', 'd', 'a'])
})

test('what has waited for the same hours is one message, whatever its sources', () => {
  const kept = { dueAt: NOW - 1 }
  const list = [
    waiting('a', { ...kept, at: NOW - 9_000 }),
    waiting('b', { ...kept, source: 'other' }),
    waiting('c', { weight: 6 }),
  ]
  assert.deepEqual(idsOf(list), ['c'])
  assert.deepEqual(idsOf(list.slice(0, 2)), ['a', 'b'])
})

test('a single message that is too long is shortened, with a mark', () => {
  const long = waiting('a', { content: { ...waiting('a').content, excerpt: '🔥'.repeat(500) } })
  const fits: BundleOptions['fits'] = ({ text }) => text.length <= 100
  const { text } = shortenMessage(messageOf(nextBundle([long], { ...OPTIONS, fits })), fits)
  assert.equal(text.length, 100)
  assert.match(text, /…$/)
  assert.ok(text.isWellFormed())
  assert.deepEqual(shortenMessage({ title: '', text: 'short', level: '' }, fits).text, 'short')
})

test('a message names every notification of its bundle once, on a line of its own', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 2, maxLength: 20 }), (titles) => {
      const list = titles.map((title, number) =>
        waiting(`id-${number}.`, { content: { ...waiting(`id-${number}.`).content, title } }),
      )
      const lines = messageOf(list).text.split('\n')
      assert.equal(lines.length, list.length)
      lines.forEach((line, number) => assert.ok(line.includes(`id-${number}.`), line))
    }),
  )
})

test('a line break in a title forges no line', () => {
  const title = 'disk full\n[CRITICAL] forged'
  const forged = waiting('a', { content: { ...waiting('a').content, title } })
  assert.equal(messageOf([forged]).title, '[ERROR] disk full [CRITICAL] forged')
  assert.equal(messageOf([forged, waiting('b')]).text.split('\n').length, 2)
})

test('recoveries and freezes are marked', () => {
  const note = '4 swings in 8 reports; now CRITICAL'
  const list = [
    waiting('a', { occasion: 'recovered', weight: 0 }),
    waiting('b', { occasion: 'frozen', weight: 6, content: { ...waiting('b').content, note } }),
  ]
  const { title, text, level } = messageOf(list)
  assert.equal(title, '[CRITICAL] 2 notifications of s')
  assert.equal(level, 'CRITICAL')
  assert.deepEqual(text.split('\n'), ['[RECOVERED] title a (s, a)', `[FROZEN] title b (s, b, ${note})`])
})

test('each line of a bundle has the links of its alert, and the message that of the list', () => {
  const runbookUrl = 'https://wiki.example.org/disk'
  const first = waiting('a', { weight: 4 })
  const list = [{ ...first, content: { ...first.content, runbookUrl } }, waiting('b', { weight: 4 })]
  const { text, links } = messageOf(list, { consoleUrl: 'https://shop.example.org' })
  const page = 'https://shop.example.org/console/alerts'
  assert.deepEqual(text.split('\n'), [
    `[ERROR] title a (s, a) Alert: ${page}/alert a Runbook: ${runbookUrl}`,
    `[ERROR] title b (s, b) Alert: ${page}/alert b`,
    `Alerts: ${page}`,
  ])
  assert.deepEqual(links, [{ kind: 'open', url: page }])
})
