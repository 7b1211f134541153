import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { driveWorld, readAll, writeTokenFile, type DriveWorld } from '../../support/drive-world.ts'
import { DRIVE_REFRESH_TOKEN, sha1 } from '../../support/mock-drive.ts'

const PROGRAM = join(import.meta.dirname, '../../support/upload-program.ts')
const CONTENT = randomBytes(2_500)
const FOLDER = 'backup/202601'

/** Whether the drive has done the work of the request when the process is killed. */
type Moment = 'before' | 'after'

interface Kill {
  /** The number of the request, from 1. */
  readonly at: number
  readonly moment: Moment
}

/** Passes requests to the drive, counts them, and kills the program at one of them. */
async function startCounter(world: DriveWorld, kill: Kill | undefined) {
  const paths: string[] = []
  let killed: (() => void) | undefined
  const server = createServer((incoming, outgoing) => {
    void handle(incoming, outgoing).catch(() => outgoing.destroy())
  })
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    paths.push(incoming.url ?? '')
    const isLast = paths.length === kill?.at
    if (isLast && kill?.moment === 'before') return killed?.()
    const answer = await forward(world, incoming, await buffer(incoming))
    const body = await buffer(answer)
    if (isLast) return killed?.()
    outgoing.writeHead(answer.statusCode ?? 0, answer.headers).end(body)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    paths,
    onKill: (run: () => void) => void (killed = run),
    [Symbol.dispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** With the `Host` of the counter, so that the URLs of parts lead to it, too. */
async function forward(
  { mock }: DriveWorld,
  incoming: IncomingMessage,
  body: Buffer,
): Promise<IncomingMessage> {
  const { method, url, headers } = incoming
  const request = httpRequest({
    host: '127.0.0.1',
    port: mock.port,
    method,
    path: url,
    headers,
    agent: false,
  })
  request.end(body)
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  return answer
}

interface Run {
  readonly wasKilled: boolean
  readonly code: number | null
  readonly output: string
  readonly paths: readonly string[]
}

async function run(world: DriveWorld, directory: string, kill?: Kill): Promise<Run> {
  using counter = await startCounter(world, kill)
  const args = [
    counter.url,
    world.tokenPath,
    join(directory, 'archive'),
    sha1(CONTENT),
    join(directory, 'state.json'),
  ]
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  counter.onKill(() => void child.kill('SIGKILL'))
  const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'close')])
  return { wasKilled: signal === 'SIGKILL', code: code as number | null, output, paths: counter.paths }
}

async function inWorld(work: (world: DriveWorld, directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'drive-kill-'))
  try {
    await using world = await driveWorld()
    writeFileSync(join(directory, 'archive'), CONTENT)
    await work(world, directory)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** One archive with the right content and one index, and nothing else. */
async function assertOneArchive(world: DriveWorld): Promise<void> {
  const drive = world.open()
  const files = await drive.list((await drive.findFolder(FOLDER)) ?? '')
  assert.deepEqual(files.map(({ name }) => name).toSorted(), [
    'MANIFEST.json',
    'backup-20260131-020000.tar.zst',
  ])
  const archive = files.find(({ name }) => name.startsWith('backup-'))
  assert.ok(archive)
  assert.deepEqual(await readAll(drive.download(archive)), CONTENT)
}

describe('an upload that is killed at any call to the drive', () => {
  it(
    'is finished by another process: one archive, with the right content',
    { timeout: 600_000 },
    async () => {
      let calls = 0
      await inWorld(async (world, directory) => {
        const { code, paths, output } = await run(world, directory)
        assert.deepEqual([code, output], [0, ''])
        calls = paths.length
        await assertOneArchive(world)
      })
      assert.ok(calls >= 10, `${calls} calls`)
      for (let at = 1; at <= calls; at++)
        await Promise.all((['before', 'after'] as const).map((moment) => killAndGoOn({ at, moment })))
    },
  )
})

async function killAndGoOn(kill: Kill): Promise<void> {
  await inWorld(async (world, directory) => {
    const first = await run(world, directory, kill)
    assert.ok(first.wasKilled, `killed ${kill.moment} call ${kill.at}`)
    if (first.paths.at(-1) === '/oauth/access_token' && kill.moment === 'after')
      await authoriseAnew(world, directory)
    const second = await run(world, directory)
    assert.deepEqual([second.code, second.output], [0, ''], `after a kill ${kill.moment} call ${kill.at}`)
    await assertOneArchive(world)
  })
}

/** The drive has used the refresh token up, and its answer is lost: only a person can go on. */
async function authoriseAnew(world: DriveWorld, directory: string): Promise<void> {
  const { code, output } = await run(world, directory)
  assert.deepEqual([code, output], [1, 'token_refresh_failed'])
  assert.equal(world.tokens()['refresh_token'], DRIVE_REFRESH_TOKEN)
  writeTokenFile(world.tokenPath, { refresh_token: world.mock.authorise() })
}
