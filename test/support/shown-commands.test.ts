import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startShell } from './shown-commands.ts'

test('a step that ends the shell fails, with what it printed', async () => {
  await using shell = startShell({})
  await assert.rejects(shell.run('echo before the end; exit 0'), /before the end/)
})
