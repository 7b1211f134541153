import assert from 'node:assert/strict'
import { closeSync, openSync, readdirSync, writeFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { onEveryDialect, testStore } from '../../../test/support/store.ts'
import { Secret } from '../../kernel/secret.ts'
import { quickCheck } from './inspect-database.ts'

const RESULT = { sqlite: 'quick_check: ok', postgres: 'PostgreSQL answers' } as const

onEveryDialect('a quick check', (dialect) => {
  test('of a database in use says that it is good', async () => {
    await using world = await testStore(dialect)
    assert.equal(await quickCheck(world.address), RESULT[dialect])
  })
})

describe('a quick check of a SQLite file', () => {
  test('fails when pages are damaged', async () => {
    await using world = await testStore('sqlite')
    const { store, address } = world
    await store.close()
    assert.ok(address.kind === 'sqlite')
    const file = openSync(address.path, 'r+')
    // After the first page, which has the schema.
    writeSync(file, Buffer.alloc(40_000, 0xa5), 0, 40_000, 8_192)
    closeSync(file)
    await assert.rejects(quickCheck(address), /is damaged|cannot be read/)
  })

  test('fails for another file, and for none, which it does not create', async () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'platform.db')
    await assert.rejects(quickCheck({ kind: 'sqlite', path }), {
      code: 'store_unavailable',
      message: /cannot be read/,
    })
    assert.deepEqual(readdirSync(dirname(path)), [])
    writeFileSync(path, 'no database '.repeat(1_000))
    await assert.rejects(quickCheck({ kind: 'sqlite', path }), { message: /file is not a database/ })
  })
})

test('a quick check of PostgreSQL fails when it is away', async () => {
  const url = new Secret('postgres://platform:canary-pass@127.0.0.1:1/platform')
  await assert.rejects(quickCheck({ kind: 'postgres', url }), (error) => {
    assert.ok(error instanceof Error && !error.message.includes('canary-pass'))
    return true
  })
})
