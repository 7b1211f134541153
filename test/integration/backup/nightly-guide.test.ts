import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { NIGHT_ALERTS } from '../../../programs/backup/alerts/events.ts'
import { HEARTBEATS } from '../../../programs/backup/alerts/night-alerts.ts'
import { ERROR_CODES } from '../../../programs/backup/errors.ts'
import { rebootGates, type RebootGateDeps } from '../../../programs/backup/host/gates.ts'
import { UNIT_NAMES } from '../../../programs/backup/install/units.ts'
import { metricsText } from '../../../programs/backup/metrics-file.ts'
import { FULL_NIGHT_NUMBERS } from '../../support/night-numbers.ts'

const guide = readFileSync(join(import.meta.dirname, '../../../docs/guide/nightly.md'), 'utf8')

/** The first column of the tables of a section, in order. */
function rowsBelow(heading: string): string[] {
  const section = guide.split(/^#+ /m).find((each) => each.startsWith(`${heading}\n`)) ?? ''
  return [...section.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, name = '']) => name)
}

test('the guide says what to do about every alert and every error code', () => {
  const alerts = new Set(Object.values(NIGHT_ALERTS).map(({ alarmId }) => alarmId))
  const heartbeats = Object.keys(HEARTBEATS).map((name) => `heartbeat.missed:${name}`)
  assert.deepEqual(new Set(rowsBelow('What to do about an alert')), new Set([...alerts, ...heartbeats]))
  assert.deepEqual(rowsBelow('Error codes'), ERROR_CODES)
})

test('the guide explains every gate, every enabled unit and every metric', () => {
  const gates = rebootGates({} as RebootGateDeps).map(({ name }) => name)
  assert.deepEqual(rowsBelow('Gates and reboot'), gates)
  const enabled = UNIT_NAMES.filter((name) => name.endsWith('.timer') || name.includes('selfcheck'))
  assert.deepEqual(rowsBelow('The units'), enabled)
  const metrics = metricsText(FULL_NIGHT_NUMBERS).matchAll(/^# TYPE (\w+)/gm)
  for (const [, name = ''] of metrics) assert.ok(guide.includes(`\`${name}`), name)
})

test('the commands that authorise the drive write the tokens, and keep the file when the drive refuses', async (t) => {
  const { drive, directory, file } = await authoriseWorld(t)
  drive.answer = {
    refresh_token: 'new-refresh',
    access_token: 'new-access',
    expires_in: 7_200,
    token_type: 'Bearer',
  }
  const shown = await runBlocks(directory, drive.url)
  assert.match(shown, /^http:\S+\/oauth\/authorize\?client_id=app&redirect_uri=\S+&response_type=code\n/)
  const { updated_at, ...tokens } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
  assert.deepEqual(tokens, {
    drive_id: 'd',
    root_dir: 'servers/main',
    access_token: 'new-access',
    refresh_token: 'new-refresh',
    expires_in: 7_200,
  })
  assert.match(String(updated_at), /^\d{4}-\d\d-\d\dT.*Z$/)
  assert.deepEqual(drive.asked, {
    grant_type: 'authorization_code',
    code: 'the-code',
    client_id: 'app',
    client_secret: 'canary',
  })
  const before = readFileSync(file, 'utf8')
  drive.answer = { code: 'InvalidCode' }
  await runBlocks(directory, drive.url)
  assert.equal(readFileSync(file, 'utf8'), before)
  assert.deepEqual(readdirSync(dirname(file)), ['drive-token.json'])
})

/** A drive that answers as it is told, and the files of the guide in a directory. */
async function authoriseWorld(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'authorise-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'opt/platform/certs/backend/drive-token.json')
  mkdirSync(dirname(file), { recursive: true })
  mkdirSync(join(directory, 'etc/platform'), { recursive: true })
  writeFileSync(file, '{"drive_id":"d","root_dir":"servers/main","refresh_token":"old"}')
  writeFileSync(
    join(directory, 'etc/platform/backup.env'),
    'DRIVE_CLIENT_ID=app\nDRIVE_CLIENT_SECRET=canary\n',
  )
  const drive = { url: '', answer: {} as object, asked: undefined as unknown }
  const server = createServer((request, response) => {
    void readText(request).then((body) => {
      drive.asked = JSON.parse(body)
      response.end(JSON.stringify(drive.answer))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  drive.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { drive, directory, file }
}

/** Runs what the section shows, with the paths below a directory and as this user. */
async function runBlocks(directory: string, driveUrl: string): Promise<string> {
  const section = guide.split(/^## /m).find((each) => each.startsWith('Authorising the drive\n')) ?? ''
  const script = [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .map(([, block = '']) => block)
    .join('')
    .replaceAll('https://openapi.alipan.com', driveUrl)
    .replaceAll(/(?<=[ =])\/(?=etc|opt)/g, `${directory}/`)
    .replace('-o root -g platform ', '')
  const { stdout } = await promisify(execFile)('sh', ['-c', script])
  return stdout
}
