import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { systemClock } from '../../src/kernel/clock.ts'
import { startMockProgram } from '../support/mock-program.ts'
import { freePort } from '../support/loopback.ts'
import { CLIENT_ID, CLIENT_SECRET, startTestProvider } from '../support/mock-oidc.ts'
import { startNats } from '../support/nats.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import {
  blocksOf,
  followSteps,
  START_BUS,
  startShell,
  stepsOf,
  tour,
  withValues,
  type Block,
  type Reader,
  type Shells,
} from '../support/shown-commands.ts'
import { firstPassword, patternOf } from '../support/shown-output.ts'

const ROOT = join(import.meta.dirname, '../..')
// npm takes ten times as long to start as the program; the tour and test/e2e/checkout.long.test.ts run it.
const WITHOUT_NPM = 'npx() { shift; bin/platform.mjs "$@"; }'
// Messages wait for ever: nothing listens there. Decisions are what they are with a robot.
const ROBOT = { ALERT_ROBOT_KIND: 'generic', ALERT_ROBOT_URL: 'http://127.0.0.1:1/robot' }

// The configuration is in the directory of the data, and not where the shell is.
const ISSUE = 'npx platform token issue admin --config "$CONFIG"'

const isRoot = process.getuid?.() === 0

// The first two read the newest event and the newest alert, and another guide may cause one.
const GUIDES = [
  'events',
  'alerts',
  'commands',
  'users',
  'operating',
  'tickets',
  'menus',
  'certificates',
  'telemetry',
  'data-backups',
  'two-servers',
  'overview',
].map((name) => `docs/guide/${name}.md`)

type Environment = Readonly<Record<string, string>>

describe('the commands that the documents show', () => {
  it('take a reader through the tour of the README, from the first call to Ctrl-C', async () => {
    const busPort = await freePort()
    await using world = await startWorld({ BUS_SERVER: `nats://127.0.0.1:${busPort}` })
    await using bus = lateBus(busPort)
    const blocks = blocksOf(tour())
    assert.ok(blocks.length > 5, 'the tour is there')

    for (const block of blocks) {
      if (block.text === START_BUS) await bus.start()
      else await followSteps(readerAt(world), block)
    }

    world.platform.signal('SIGINT')
    assert.equal(await world.platform.ended, 0)
  })

  describe('at one platform', () => {
    let platform: ServedPlatform
    let dataDir = ''
    const resources = new AsyncDisposableStack()
    before(async () => {
      dataDir = resources.use(temporaryDirectory()).path
      const commands = blocksOf(read('docs/guide/commands.md')).find(({ language }) => language === 'toml')
      platform = resources.use(await serveTour(dataDir, ROBOT, commands?.text))
    })
    after(() => resources.disposeAsync())

    for (const guide of GUIDES) {
      it(`print in ${guide} what it says`, async () => {
        await using shells = startShells(dataDir, ROBOT)
        await followGuide({ platform, ...shells }, guide)
      })
    }
  })

  it('rotate the key as docs/guide/maintenance.md says, without a signed-out user', async () => {
    using data = temporaryDirectory()
    const values = { CONFIG: join(data.path, 'platform.toml'), DATA: data.path }
    await using shells = startShells(data.path, {})
    await shells.shell.run(WITHOUT_NPM)
    // As the package has it.
    await shells.shell.run(`echo '[auth]' > '${values.CONFIG}'; CONFIG='${values.CONFIG}'`)
    const statusAfterStart = async (token: string) => {
      await using platform = await servePlatform({ dataDir: data.path })
      const status = await statusWith(platform, token)
      await platform.stop()
      return status
    }
    await statusAfterStart('none')
    // What the first rotation leaves is not what the package has.
    for (const rotation of ['first', 'second']) {
      const issued = await shells.shell.run(ISSUE)
      const seen: number[] = []
      for (const { text } of shownIn('docs/guide/maintenance.md')) {
        for (const { command, output } of stepsOf(text))
          assert.match(await shells.shell.run(withValues(command, values)), patternOf(output), command)
        seen.push(await statusAfterStart(issued))
        assert.equal(await statusAfterStart(await shells.shell.run(ISSUE)), 200)
      }
      assert.deepEqual(seen, [200, 401], `${rotation}: a former token, with both keys and with the new one`)
    }
  })

  it('print in docs/guide/sign-in.md what it says', async () => {
    await using provider = await startTestProvider({}, systemClock)
    const port = await freePort()
    await using world = await startWorld({
      LISTEN_ADDR: `127.0.0.1:${port}`,
      AUTH_OIDC_ISSUER: provider.url,
      AUTH_OIDC_CLIENT_ID: CLIENT_ID,
      AUTH_OIDC_CLIENT_SECRET: CLIENT_SECRET,
      AUTH_OIDC_REDIRECT_URI: `http://127.0.0.1:${port}/auth/oauth/callback`,
      AUTH_OIDC_ALLOW_INSECURE_ENDPOINTS: 'true',
    })
    await followGuide(world, 'docs/guide/sign-in.md')
  })

  it(
    'print in docs/guide/nightly.md what it says',
    { skip: !isRoot && 'the backup needs root' },
    async () => {
      await using world = await startWorld({ BACKUP_TIME_ZONE: 'UTC' })
      using home = temporaryDirectory()
      const env = { MOCK_DRIVE_PORT: '0' }
      await using drive = await startMockProgram('mock-drive', { cwd: home.path, env })
      await followGuide(world, 'docs/guide/nightly.md', { DRIVE: drive.url })
    },
  )

  it('print in docs/guide/mock-drive.md what it says', async () => {
    using home = temporaryDirectory()
    const [name, env] = ['mock-drive', { MOCK_DRIVE_PORT: '0' }]
    await using drive = await startMockProgram(name, { cwd: home.path, env })
    await using shell = startShell({ HOME: home.path })
    for (const { text } of shownIn('docs/guide/mock-drive.md'))
      for (const { command, output } of stepsOf(text))
        assert.match(await shell.run(withValues(command, { DRIVE: drive.url })), patternOf(output), command)
  })
})

interface Place extends Shells {
  readonly platform: ServedPlatform
}

async function startWorld(env: Environment): Promise<Place & AsyncDisposable> {
  await using opening = new AsyncDisposableStack()
  const data = opening.use(temporaryDirectory())
  const platform = opening.use(await serveTour(data.path, env))
  const { shell, ownTerminal } = opening.use(startShells(data.path, env))
  const opened = opening.move()
  return { platform, shell, ownTerminal, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

async function statusWith({ url }: ServedPlatform, token: string): Promise<number> {
  return (await fetch(`${url}/auth/me`, { headers: { authorization: `Bearer ${token}` } })).status
}

function serveTour(dataDir: string, env: Environment, configuration = ''): Promise<ServedPlatform> {
  writeFileSync(join(dataDir, 'platform.toml'), configuration)
  return servePlatform({ dataDir, env: { ...env, WORKER_ORDER_SCAN: '200ms' } })
}

function startShells(dataDir: string, env: Environment): Shells & AsyncDisposable {
  const opened = new AsyncDisposableStack()
  const shellEnv = { ...env, DATA_DIR: dataDir, HOME: dataDir }
  const shell = opened.use(startShell(shellEnv))
  const ownTerminal = opened.use(startShell(shellEnv))
  return { shell, ownTerminal, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

function readerAt({ platform, shell, ownTerminal }: Place, others: Environment = {}): Reader {
  const values = { API: platform.url, PASSWORD: firstPassword(platform.stderr()), ...others }
  return { shell, ownTerminal, values, gatewayUrl: platform.gatewayUrl }
}

async function followGuide(place: Place, guide: string, others: Environment = {}): Promise<void> {
  await place.shell.run(WITHOUT_NPM)
  for (const block of shownIn(guide)) await followSteps(readerAt(place, others), block)
}

function shownIn(guide: string): Block[] {
  const shown = blocksOf(read(guide)).filter(({ language }) => language === 'console')
  assert.ok(shown.length > 0, 'there are some')
  return shown
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function lateBus(port: number) {
  let server: Awaited<ReturnType<typeof startNats>> | undefined
  return {
    async start() {
      server = await startNats({ jetstream: true, port })
    },
    [Symbol.asyncDispose]: async () => server?.stop(),
  }
}
