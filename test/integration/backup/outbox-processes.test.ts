import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { NightAlerts } from '../../../programs/backup/alerts/night-alerts.ts'
import { DirectoryOutboxFiles } from '../../../programs/backup/alerts/outbox-files.ts'
import { PlatformClient } from '../../../programs/backup/alerts/platform-client.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { silentLogger } from '../../../src/kernel/logger.ts'
import { NIGHT_ALERTS_OPTIONS } from '../../support/night-alerts.ts'
import { temporaryDirectory } from '../../support/platform.ts'
import { startTicketApi } from '../../support/ticket-api.ts'

const ROOT = JSON.stringify(join(import.meta.dirname, '../../..'))
const REPORTS = 15

/** Reports `<name> 0`, `<name> 1`, …; what it could not deliver in its time is in the outbox. */
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
  await deliverRest(directory.path, api.url)
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

/** Each delivery has a limited time. */
async function deliverRest(directory: string, url: string): Promise<void> {
  using api = new PlatformClient({ url, clock: systemClock })
  const files = new DirectoryOutboxFiles(directory)
  const options = { ...NIGHT_ALERTS_OPTIONS, files, api, clock: systemClock, logger: silentLogger }
  let alerts: NightAlerts
  do {
    alerts = new NightAlerts(options)
    await alerts.deliver()
  } while (alerts.waiting() > 0)
}
