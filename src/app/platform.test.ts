import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openFilesNotice } from './platform.ts'

const limits = (soft: string) =>
  `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${soft.padEnd(20)} 1048576              files\n`

test('a process that may open few files says so', () => {
  assert.match(openFilesNotice(limits('64')) ?? '', /^this process may open 64 files, .*LimitNOFILE=/)
  for (const text of [limits('1024'), limits('unlimited'), '']) assert.equal(openFilesNotice(text), undefined)
})
