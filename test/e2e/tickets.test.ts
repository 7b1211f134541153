import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import { notifierWorld, type NotifierRun } from '../support/notifier.ts'
import { servePlatform, temporaryDirectory } from '../support/platform.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { onEveryDialect } from '../support/store.ts'

test('the real notifier sends a new critical ticket of the real platform, and its change, by mail and robot', async () => {
  await using opening = new AsyncDisposableStack()
  const data = opening.use(temporaryDirectory())
  const platform = opening.use(await servePlatform({ dataDir: data.path }))
  const w = opening.use(await notifierWorld())
  w.configure(['mail', 'robot'])
  const run = async (state: string, ...args: string[]): Promise<NotifierRun> => {
    const env = { PLATFORM_API: platform.url, OPS_DIR: join(w.directory, state) }
    const ended = await w.run(args, { env })
    assert.equal(ended.code, 0, ended.stderr)
    return ended
  }
  await run('first')
  const made = await platform.call('POST', '/tickets', {
    body: { title: 'The shop does not answer', level: 'critical', description: 'Since noon.' },
  })
  assert.equal(made.status, 201)
  const { id } = (await made.json()) as { id: string }
  assert.equal((await run('first')).done?.['sent'], 1)

  // Another notifier, because the first one sends no second mail for 15 minutes.
  await run('second', '--seed-only')
  const changed = await platform.call('PUT', `/tickets/${id}`, {
    body: { status: 'resolved', level: 'info', comment: 'Restarted.' },
  })
  assert.equal(changed.status, 200)
  assert.equal((await run('second')).done?.['sent'], 1)

  const titles = [
    '[CRITICAL] New ticket: The shop does not answer',
    '[INFO] open → resolved: The shop does not answer',
  ]
  assert.deepEqual(
    w.robots.shown.map((text) => text.split('\n')[0]),
    titles,
  )
  assert.equal(w.smtp.mails.length, 2)
  // The others are encoded: they are not ASCII.
  assert.match(w.smtp.mails[0]?.source ?? '', /Subject: \[CRITICAL\] New ticket: The shop does not answer/)
  assert.equal((await run('second')).done?.['sent'], 0)
})

/** The database of an engine, as the environment names it. */
async function databaseOf(dialect: DialectName, opening: AsyncDisposableStack) {
  if (dialect === 'sqlite') return {}
  const { url } = opening.adopt(await createTestDatabase(), (database) => database.drop())
  return { DATABASE_URL: url }
}

onEveryDialect('two platforms on one database', (dialect) => {
  test('create one ticket of concurrent requests with the same dedup key', async () => {
    await using opening = new AsyncDisposableStack()
    const data = opening.use(temporaryDirectory())
    const serve = { dataDir: data.path, env: await databaseOf(dialect, opening), modules: 'api' }
    const first = opening.use(await servePlatform(serve))
    const second = opening.use(await servePlatform(serve))
    for (const round of [1, 2, 3]) {
      const body = { title: 'Disk full', level: 'high', dedup_key: `disk-${round}` }
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? first : second).call('POST', '/tickets', { body }),
        ),
      )
      assert.ok(answers.every(({ ok }) => ok))
      assert.equal(answers.filter(({ status }) => status === 201).length, 1)
      const tickets = await Promise.all(
        answers.map(async (answer) => (await answer.json()) as { id: string }),
      )
      assert.equal(new Set(tickets.map(({ id }) => id)).size, 1)
    }
  })
})
