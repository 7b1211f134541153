import assert from 'node:assert/strict'
import { fstatSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { test } from 'node:test'
import { isJournal, journalError } from './journal.ts'

test('only the output whose device and inode the variable has is the journal', async () => {
  await using file = await open(import.meta.filename)
  const { dev, ino } = fstatSync(file.fd)
  assert.equal(isJournal({ JOURNAL_STREAM: `${dev}:${ino}` }, file.fd), true)
  assert.equal(isJournal({ JOURNAL_STREAM: `${dev}:${ino}0` }, file.fd), false)
  assert.equal(isJournal({}, file.fd), false)
  assert.equal(isJournal({ JOURNAL_STREAM: '' }, 1_000_000), false)
  assert.equal(isJournal({ JOURNAL_STREAM: '1:1' }, 1_000_000), false)
})

test('every line of an error has the priority', () => {
  assert.equal(journalError('one\ntwo\n'), '<3>one\n<3>two\n')
})
