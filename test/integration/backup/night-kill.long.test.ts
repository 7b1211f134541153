import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import {
  EMPTY_STATE,
  encodeState,
  parseState,
  type BackupState,
} from '../../../programs/backup/night/state.ts'
import { HOUR, MINUTE } from '../../../src/kernel/time.ts'
import { driveWorld, writeTokenFile, type DriveWorld } from '../../support/drive-world.ts'
import type { NightAnswer, NightTask } from '../../support/night-program.ts'
import {
  DATABASE_CONTENT,
  makeServer,
  remoteNames,
  restoredDatabase,
  settingsIn,
} from '../../support/night-world.ts'

const PROGRAM = join(import.meta.dirname, '../../support/night-program.ts')
const NIGHT_START = Date.UTC(2026, 0, 31, 1)
// `CRASHES=all` kills at every point; otherwise at some of them, spread over the run.
const SAMPLE = 4
// The next night is checked after some of the kills.
const CHECKED_NEXT_NIGHT = 10
const killsAll = process.env['CRASHES'] === 'all'

interface Server {
  readonly drives: DriveWorld
  readonly directory: string
}

/** Makes one call in a process of its own; undefined when it was killed. */
async function call(
  { drives, directory }: Server,
  task: Pick<NightTask, 'call' | 'now' | 'killAt'>,
): Promise<NightAnswer | undefined> {
  const { mock, tokenPath } = drives
  const argument = JSON.stringify({ directory, driveUrl: mock.url, tokenPath, ...task } satisfies NightTask)
  const child = spawn(process.execPath, [PROGRAM, argument], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [, signal]] = await Promise.all([text(child.stdout), once(child, 'close')])
  return signal === 'SIGKILL' ? undefined : (JSON.parse(output) as NightAnswer)
}

async function onServer(work: (server: Server) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'night-kill-'))
  try {
    await using drives = await driveWorld()
    makeServer(settingsIn(directory))
    // Without a search for old backups, which would be most of the points.
    writeFileSync(join(directory, 'state.json'), encodeState({ ...EMPTY_STATE, remoteIds: [] }))
    await work({ drives, directory })
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** What the timers call after the kill: a retry, the second call of the night, more retries. */
const LATER = [
  ['retryOnce', 30],
  ['runScheduled', 60],
  ['retryOnce', 61],
] as const

async function killAndGoOn(killAt: number, point: string): Promise<void> {
  await onServer(async (server) => {
    assert.equal(await call(server, { call: 'runScheduled', now: NIGHT_START, killAt }), undefined, point)
    await assertDoneIsRestorable(server)
    if (point === 'after access_token') authoriseAnew(server)
    for (const [name, minutes] of LATER) {
      const answer = await call(server, { call: name, now: NIGHT_START + minutes * MINUTE })
      assert.notEqual(answer?.outcome, 'failed', `${point}: ${answer?.errorCode}`)
      if (stateOf(server).lastSuccess) break
    }
    await assertGoodEnd(server)
    if (killAt % CHECKED_NEXT_NIGHT === 0) await assertNextNight(server)
  })
}

/** The drive has used the refresh token up, and its answer is lost: only a person can go on. */
function authoriseAnew({ drives }: Server): void {
  writeTokenFile(drives.tokenPath, { refresh_token: drives.mock.authorise() })
}

function stateOf({ directory }: Server): BackupState {
  const path = join(directory, 'state.json')
  return parseState(readFileSync(path, 'utf8'))
}

function alertsOf({ directory }: Server): string[] {
  const path = join(directory, 'alerts')
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : []
}

async function assertDoneIsRestorable(server: Server): Promise<void> {
  if (!alertsOf(server).includes('backup.done INFO 2')) return
  const id = stateOf(server).run?.backupId ?? ''
  assert.equal(await restoredDatabase(server.drives, server.directory, id), DATABASE_CONTENT)
}

async function assertGoodEnd(server: Server): Promise<void> {
  const { directory, drives } = server
  const state = stateOf(server)
  const id = state.lastSuccess?.backupId ?? ''
  assert.deepEqual(await remoteNames(drives), ['MANIFEST.json', `backup-${id}.tar.zst`])
  assert.equal(await restoredDatabase(drives, directory, id), DATABASE_CONTENT)
  assert.deepEqual(readdirSync(join(directory, 'staging')), [])
  assert.ok(alertsOf(server).includes('backup.done INFO 2'))
  assert.ok(state.run && state.run.status !== 'running')
}

/** It finds nothing that stops it. */
async function assertNextNight(server: Server): Promise<void> {
  const next = await call(server, { call: 'runScheduled', now: NIGHT_START + 24 * HOUR })
  assert.equal(next?.outcome, 'succeeded')
}

test(
  'a night that is killed at any point ends well: one archive, which can be restored, and no early success',
  { timeout: 1_800_000 },
  async (t) => {
    let points: readonly string[] = []
    await onServer(async (server) => {
      const answer = await call(server, { call: 'runScheduled', now: NIGHT_START })
      assert.equal(answer?.outcome, 'succeeded')
      points = answer?.points ?? []
    })
    assert.ok(points.length > 60, `${points.length} points`)
    const step = killsAll ? 1 : Math.ceil(points.length / SAMPLE)
    const chosen = points.map((point, index) => [index + 1, point] as const)
    const kills = chosen.filter(([number]) => killsAll || number % step === Math.floor(step / 2))
    for (let at = 0; at < kills.length; at += 2)
      await Promise.all(kills.slice(at, at + 2).map(([number, point]) => killAndGoOn(number, point)))
    t.diagnostic(`${kills.length} kills at ${points.length} points`)
  },
)
