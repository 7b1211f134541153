import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mentionAt, mentions, namesFor } from './mentions.ts'

test('a name is being typed behind an @ that begins a word', () => {
  const typed = (text: string) => mentionAt(text, text.length)?.typed
  assert.deepEqual(['@', 'for @ad', 'root@ad', '@ada ', 'no'].map(typed), [
    '',
    'ad',
    undefined,
    undefined,
    undefined,
  ])
  assert.deepEqual(mentionAt('@ad and more', 3), { typed: 'ad', from: 1 })
})

test('names that begin with the text are first, and a whole name is not offered', () => {
  const names = ['grace', 'ada', 'Adam', 'canada']
  assert.deepEqual(namesFor(names, 'AD'), ['ada', 'Adam', 'canada'])
  assert.deepEqual(namesFor(names, 'ada'), [])
  assert.deepEqual(namesFor(names, ''), names)
})

test('a text mentions a name in any case, also at the end of a sentence', () => {
  const isMentioned = (text: string) => mentions(text, 'ada')
  assert.deepEqual(['@ada', '(@Ada)', 'Ask @ada.', '@ada-'].map(isMentioned), [true, true, true, true])
  assert.deepEqual(['ada', 'x@ada', '@adam', '@ada.b'].map(isMentioned), [false, false, false, false])
})
