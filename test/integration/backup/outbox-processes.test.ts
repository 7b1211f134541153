import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../../support/platform.ts'
import { startTicketApi } from '../../support/ticket-api.ts'

const ROOT = JSON.stringify(join(import.meta.dirname, '../../..'))
const REPORTS = 30

/** Reports `<name> 0`, `<name> 1`, … and delivers what is left of them. */
const PROGRAM = `
  const [directory, url, name] = process.argv.slice(1)
  const load = (path) => import(${ROOT} + path)
  const { NightAlerts } = await load('/programs/backup/alerts/night-alerts.ts')
  const { DirectoryOutboxFiles } = await load('/programs/backup/alerts/outbox-files.ts')
  const { PlatformClient } = await load('/programs/backup/alerts/platform-client.ts')
  const { systemClock } = await load('/src/kernel/clock.ts')
  const { silentLogger } = await load('/src/kernel/logger.ts')
  const alerts = new NightAlerts({
    files: new DirectoryOutboxFiles(directory), api: new PlatformClient({ url, clock: systemClock }),
    clock: systemClock, logger: silentLogger, server: 'primary', serverAddr: name, variables: {},
    templates: { 'backup.start': { title: '\${backup_id}' } },
  })
  for (let index = 0; index < ${REPORTS}; index++)
    await alerts.report('backup_started', { backup_id: name + ' ' + index })
  while (alerts.waiting() > 0) await alerts.deliver()
`

test('two processes with one outbox deliver everything once, each in its order', async () => {
  using directory = temporaryDirectory()
  await using api = await startTicketApi()
  const names = ['one', 'two']
  const codes = await Promise.all(
    names.map(async (name) => {
      const args = ['--input-type=module', '--eval', PROGRAM, directory.path, api.url, name]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
      return (await once(child, 'exit'))[0] as unknown
    }),
  )
  assert.deepEqual(codes, [0, 0])
  const titles = api.alerts.map(({ title }) => String(title))
  for (const name of names)
    assert.deepEqual(
      titles.filter((title) => title.startsWith(name)),
      Array.from({ length: REPORTS }, (_, index) => `${name} ${index}`),
    )
  const keys = api.requests.map(({ headers }) => headers['idempotency-key'])
  assert.equal(new Set(keys).size, 2 * REPORTS)
  assert.equal(readFileSync(join(directory.path, 'outbox.jsonl'), 'utf8'), '')
})
