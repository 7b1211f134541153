import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { createTestDatabase } from '../../../test/support/postgres.ts'
import { Secret } from '../../kernel/secret.ts'
import { postgresRestore } from './postgres-restore.ts'

test('a database that is opened after the first check is not replaced', async (t) => {
  const { url, drop } = await createTestDatabase()
  const server = new Client({ connectionString: url, application_name: 'platform' })
  t.after(async () => {
    await server.end()
    await drop()
  })
  const target = postgresRestore(new Secret(url))
  await target.requireUnserved()
  await server.connect()
  await server.query('create table things (id integer)')
  const replaced = target.replace({ path: 'snapshot.dump', sha256: '' }, '20260131T020000Z')
  await assert.rejects(replaced, { code: 'database_in_use' })
  const { rows } = await server.query("select to_regclass('public.things') as name")
  assert.deepEqual(rows, [{ name: 'things' }])
})
