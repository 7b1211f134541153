import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import { releaseStartMemory } from './start-memory.ts'

test('what nobody refers to any more is collected at once', async () => {
  const garbage = new WeakRef({ of: 'the start' })
  // A reference that was read in this turn of the event loop stays until its end.
  await turn()
  releaseStartMemory()
  assert.equal(garbage.deref(), undefined)
})

test('the flags of the process stay as they are: V8 accepts compiled code only with the same', () => {
  releaseStartMemory()
  assert.equal(runInNewContext('typeof gc'), 'undefined')
})
