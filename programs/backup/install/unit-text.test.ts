import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorshipOf, commandWord, listWord, unitText, wholeValue } from './unit-text.ts'

test('a unit knows whether it was changed', () => {
  const text = unitText('a.timer', { Timer: ['OnCalendar=daily'] })
  assert.equal(authorshipOf(text), 'unchanged')
  assert.equal(authorshipOf(`${text}\n`), 'changed')
  assert.equal(authorshipOf(text.replace('daily', 'weekly')), 'changed')
  assert.equal(authorshipOf('[Timer]\nOnCalendar=daily\n'), 'foreign')
  assert.equal(authorshipOf(''), 'foreign')
})

test('paths are quoted for systemd', () => {
  assert.equal(listWord('/var/lib/platform'), '/var/lib/platform')
  assert.equal(listWord('/var/my data'), '"/var/my data"')
  assert.equal(listWord('/a"b\\c%d'), String.raw`"/a\"b\\c%%d"`)
  assert.equal(commandWord('/a$b'), '"/a$$b"')
  assert.equal(wholeValue('/my 100%'), '/my 100%%')
  for (const quote of [listWord, commandWord, wholeValue])
    assert.throws(() => quote('/a\nExecStart=/bin/false'), /a unit cannot have this path/)
})
