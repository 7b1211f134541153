import assert from 'node:assert/strict'
import { once } from 'node:events'
import { fork } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { doctorWorld } from '../../../test/support/doctor.ts'

const HOLDER = `
  const { DatabaseSync } = require('node:sqlite')
  const database = new DatabaseSync(process.argv[2])
  database.exec('begin immediate')
  process.send('held')
  process.on('message', () => process.exit())
`

test('a process that holds the write lock is named', async (t) => {
  const { dataDir, migrate, examine } = doctorWorld(t)
  await migrate()
  const program = `${dataDir}.cjs`
  writeFileSync(program, HOLDER)
  const held = async () => (await examine()).of('database').find(({ subject }) => subject === 'write lock')
  assert.equal(await held(), undefined)
  const holder = fork(program, [join(dataDir, 'platform.db')])
  t.after(() => holder.kill())
  await once(holder, 'message')
  if (!systemNamesHolders(dataDir)) {
    t.skip('this system does not list the locks of files')
    return
  }
  const finding = await held()
  assert.equal(finding?.result, 'error')
  assert.match(finding.detail, new RegExp(`^process ${holder.pid} \\(.+\\) has held it for 2 s`))
  holder.send('end')
  await once(holder, 'exit')
  assert.equal(await held(), undefined)
})

// Some sandboxes have no list of locks, or one without the processes.
function systemNamesHolders(dataDir: string): boolean {
  const { ino } = statSync(join(dataDir, 'platform.db-shm'))
  return existsSync('/proc/locks') && readFileSync('/proc/locks', 'utf8').includes(`:${ino} 120 120`)
}
