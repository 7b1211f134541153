import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEveryDialect, testStore } from '../../test/support/store.ts'
import { systemClock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { silentLogger, type Logger } from '../kernel/logger.ts'
import type { Store } from './store.ts'
import { withCheckOfWrites } from './write-check.ts'

const REFUSAL = new AppError('unavailable', 'store_unavailable', 'The disk is full.')

/** The store with a switch that makes it refuse changes, and what the log was told. */
function breakable(store: Store) {
  const told: string[] = []
  const tell: Logger['info'] = (_fields, message) => void told.push(message)
  const logger: Logger = { ...silentLogger, info: tell, warn: tell }
  const state = { refuses: false, writes: 0 }
  const write: Store['write'] = async (work, options) => {
    state.writes++
    if (state.refuses) throw REFUSAL
    return store.write(work, options)
  }
  const checked = withCheckOfWrites({ ...store, write }, { clock: systemClock, logger, limitMs: 10_000 })
  return { checked, state, told, change: () => checked.write(async () => undefined) }
}

onEveryDialect('the check of writes', (dialect) => {
  test('writes nothing while writing works, and a probe until it does again', async () => {
    await using world = await testStore(dialect)
    const { checked, state, change } = breakable(world.store)
    await change()
    await checked.check()
    assert.equal(state.writes, 1)
    state.refuses = true
    await assert.rejects(change(), REFUSAL)
    await assert.rejects(checked.check(), REFUSAL)
    state.refuses = false
    await checked.check()
    await checked.check()
    assert.equal(state.writes, 4)
  })

  test('a change that is taken ends the doubt, too', async () => {
    await using world = await testStore(dialect)
    const { checked, state, change } = breakable(world.store)
    state.refuses = true
    await assert.rejects(change(), REFUSAL)
    state.refuses = false
    await change()
    await checked.check()
    assert.equal(state.writes, 2)
  })

  test('the log is told once of refused changes, and once when they are taken again', async () => {
    await using world = await testStore(dialect)
    const { state, told, change } = breakable(world.store)
    await change()
    state.refuses = true
    for (let times = 0; times < 3; times++) await assert.rejects(change(), REFUSAL)
    state.refuses = false
    await change()
    await change()
    assert.deepEqual(told, [
      'the database refused a change; callers are answered 503 until it takes one again',
      'the database takes changes again',
    ])
  })

  test('a change that is refused for what it is says nothing about the database', async () => {
    await using world = await testStore(dialect)
    const { checked, told } = breakable(world.store)
    const conflict = new AppError('conflict', 'order_exists', 'There is one already.')
    await assert.rejects(
      checked.write(async () => {
        throw conflict
      }),
      conflict,
    )
    assert.deepEqual(told, [])
  })
})
