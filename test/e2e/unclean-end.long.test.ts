import assert from 'node:assert/strict'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { runPlatform, servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'

const CRASHED = /did not stop in order/
const UNDAMAGED = /was checked: it is undamaged/
const DAMAGED = /is damaged: stop the platform and restore/
const PAGE_BYTES = 4_096

const says = (platform: ServedPlatform, pattern: RegExp) =>
  platform.logs().some(({ message }) => pattern.test(message))

async function firing(platform: ServedPlatform): Promise<boolean> {
  const { items } = (await (await platform.call('GET', '/alerts?status=firing')).json()) as {
    items: { alarm_id: string }[]
  }
  return items.some(({ alarm_id: id }) => id === 'data.damaged')
}

/** A table that the platform does not use, so that it starts. */
function damage(path: string): void {
  const database = new DatabaseSync(path)
  database.exec(`create table filler (value text); insert into filler values ('${'x'.repeat(100)}')`)
  const { rootpage } = database.prepare(`select rootpage from sqlite_schema where name = 'filler'`).get() as {
    rootpage: number
  }
  database.close()
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(PAGE_BYTES, 0xa5), 0, PAGE_BYTES, (rootpage - 1) * PAGE_BYTES)
  closeSync(file)
}

test('after a killed process the file is checked; damage is an alert until the restored file is checked', async () => {
  using directory = temporaryDirectory()
  const dataDir = directory.path
  const serve = () => servePlatform({ dataDir })
  {
    await using first = await serve()
    assert.equal(says(first, CRASHED), false)
    await first.kill()
  }
  assert.equal((await runPlatform(['data', 'backup'], { dataDir })).code, 0)
  {
    // The backup has removed the log that the crash has left, not the mark.
    await using second = await serve()
    assert.equal(says(second, CRASHED), true)
    await eventually('the check', () => says(second, UNDAMAGED))
    assert.equal(await second.stop(), 0)
  }
  {
    await using third = await serve()
    assert.equal(says(third, CRASHED), false, 'it was stopped in order')
    await third.kill()
  }
  damage(join(dataDir, 'platform.db'))
  {
    await using fourth = await serve()
    await eventually('the damage', () => says(fourth, DAMAGED))
    await eventually('the alert', () => firing(fourth))
    await fourth.stop()
  }
  const doctor = await runPlatform(['doctor'], { dataDir })
  const file = /run: platform data restore (\S+)/.exec(doctor.stdout)?.[1] ?? assert.fail(doctor.stdout)
  assert.equal((await runPlatform(['data', 'restore', file], { dataDir })).code, 0)
  await using fifth = await serve()
  await eventually('the check', () => says(fifth, UNDAMAGED))
  assert.equal(await firing(fifth), false)
})
