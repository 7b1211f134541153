import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { exportJournal } from './journal-export.ts'

for (const [what, command, outcome] of [
  ['is exported', ['echo', '__CURSOR=1'], undefined],
  ['is none on a server without the program', ['/nowhere/journalctl'], { isLost: false }],
  ['is none when it is empty', ['true'], { isLost: false }],
  ['is lost when the program fails', ['false'], { isLost: true }],
] as const)
  test(`a journal ${what}`, async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'journal-'))
    t.after(() => rmSync(directory, { recursive: true }))
    const found = await exportJournal(join(directory, 'journal.export'), undefined, command)
    assert.partialDeepStrictEqual({ found }, { found: outcome })
  })

test('a journal that does not fit on the disk is no lost one, but a full disk', async () => {
  const command = ['sh', '-c', 'echo __CURSOR=1 || exit 1']
  await assert.rejects(exportJournal('/dev/full', undefined, command), { code: 'ENOSPC' })
})
