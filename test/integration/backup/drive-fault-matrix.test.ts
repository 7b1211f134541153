import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { bytesSource } from '../../../programs/backup/drive/sources.ts'
import { verifyUpload } from '../../../programs/backup/drive/stored-files.ts'
import type { ErrorCode } from '../../../programs/backup/errors.ts'
import { DAY } from '../../../src/kernel/time.ts'
import { driveWorld, readAll, writeTokenFile, type DriveWorld } from '../../support/drive-world.ts'
import { driveScenarios } from '../../support/mock-drive.ts'
import { DATABASE_CONTENT, nightWorld } from '../../support/night-world.ts'

type Outcome = 'ok' | ErrorCode

const CONTENT = randomBytes(2_500)

/** Each fault, as scenarios of the mock drive. */
const FAULTS = {
  '401': [{ scenario: 'html_error', status: 401 }],
  '401 after the renewal': [
    { scenario: 'html_error', status: 401 },
    { scenario: 'html_error', status: 401 },
  ],
  '403': [{ scenario: 'html_error', status: 403 }],
  '404': [{ scenario: 'html_error', status: 404 }],
  '409': [{ scenario: 'html_error', status: 409 }],
  '413': [{ scenario: 'html_error', status: 413 }],
  '429': [{ scenario: 'rate_limited', retry_after_ms: 2_000 }],
  '500': [{ scenario: 'server_error', status: 500 }],
  '502': [{ scenario: 'html_error', status: 502 }],
  '503': [{ scenario: 'server_error', status: 503 }],
  '504': [{ scenario: 'html_error', status: 504 }],
  reset: [{ scenario: 'reset' }],
  'lost answer': [{ scenario: 'lost_answer' }],
} as const
type FaultName = keyof typeof FAULTS

const TEMPORARY: readonly FaultName[] = ['429', '500', '502', '503', '504', 'reset']

/** What a fault does at a step that is not in {@link STEPS}: the drive has refused the call. */
const USUAL: Partial<Record<FaultName, Outcome>> = {
  '401': 'ok',
  'lost answer': 'ok',
  ...Object.fromEntries(TEMPORARY.map((name) => [name, 'ok'])),
}

interface Step {
  readonly endpoint: string
  /** The requests to the endpoint that come before the step. */
  readonly before?: number
  /** Without an access token, so that there is none to renew. */
  readonly isSigned?: boolean
  /** What a refusal is, unless `outcomes` says otherwise. */
  readonly refusal: ErrorCode
  readonly outcomes?: Partial<Record<FaultName, Outcome>>
}

/** The steps of an upload, its verification and a download. */
const STEPS: Readonly<Record<string, Step>> = {
  token: {
    endpoint: 'access_token',
    isSigned: true,
    refusal: 'token_refresh_failed',
    outcomes: { '401': 'token_refresh_failed', 'lost answer': 'token_refresh_failed' },
  },
  mkdir: { endpoint: 'create', refusal: 'drive_rejected' },
  list: { endpoint: 'list', refusal: 'drive_rejected' },
  create: { endpoint: 'create', before: 1, refusal: 'drive_rejected' },
  part: {
    endpoint: 'put',
    isSigned: true,
    before: 1,
    refusal: 'upload_failed',
    // It counts as stored, and `complete` finds that it is missing.
    outcomes: { '401': 'upload_failed', '409': 'ok' },
  },
  complete: { endpoint: 'complete', refusal: 'drive_rejected', outcomes: { '404': 'ok', '409': 'ok' } },
  stat: { endpoint: 'get', refusal: 'drive_rejected', outcomes: { '404': 'verify_mismatch' } },
  'download url': { endpoint: 'getDownloadUrl', refusal: 'drive_rejected' },
  download: {
    endpoint: 'download',
    isSigned: true,
    refusal: 'drive_rejected',
    // The next URL may be valid.
    outcomes: { '401': 'drive_rejected', '403': 'ok' },
  },
}

function scenariosOf(step: Step, fault: FaultName) {
  const { endpoint, before = 0 } = step
  const passed = Array.from({ length: before }, () => ({ endpoint, scenario: 'delay', delay_ms: 1 }))
  return driveScenarios(...passed, ...FAULTS[fault].map((item) => ({ endpoint, ...item })))
}

/** Stores a file, verifies it and reads it back. */
async function store(world: DriveWorld): Promise<void> {
  const drive = world.open()
  const source = bytesSource(CONTENT)
  const folderId = await drive.ensureFolder('a')
  const file = await drive.upload({ folderId, name: 'x' }, source)
  await verifyUpload(drive, file, source)
  assert.deepEqual(await readAll(drive.download(file)), CONTENT)
  assert.deepEqual(
    (await drive.list(folderId)).map(({ name }) => name),
    ['x'],
  )
}

for (const [name, step] of Object.entries(STEPS))
  describe(`the step ${name}`, () => {
    for (const fault of Object.keys(FAULTS) as FaultName[]) {
      if (step.isSigned && fault === '401 after the renewal') continue
      const expected = step.outcomes?.[fault] ?? USUAL[fault] ?? step.refusal
      it(`after ${fault} is ${expected}, and works the next time`, async () => {
        await using world = await driveWorld(scenariosOf(step, fault))
        const first = store(world)
        if (expected === 'ok') await first
        else await assert.rejects(first, { errorCode: expected })
        assert.ok(world.pauses.reduce((sum, each) => sum + each, 0) < 60_000)
        if (TEMPORARY.includes(fault)) assert.ok(world.pauses.length > 0)
        if (fault === '429') assert.deepEqual(new Set(world.pauses), new Set([2_000]))
        // A refresh token whose renewal was lost is used up.
        if (expected === 'token_refresh_failed')
          writeTokenFile(world.tokenPath, { refresh_token: world.mock.authorise() })
        await store(world)
      })
    }
  })

describe('409 is no failure when the call has had its effect', () => {
  const conflictAt = (endpoint: string, before = 0) => {
    const passed = Array.from({ length: before }, () => ({ endpoint, scenario: 'delay', delay_ms: 1 }))
    const conflict = [{ scenario: 'lost_answer' }, { scenario: 'html_error', status: 409 }]
    return driveScenarios(...passed, ...conflict.map((item) => ({ endpoint, ...item })))
  }

  for (const [what, env] of [
    ['a folder', conflictAt('create')],
    ['a file', conflictAt('complete')],
  ] as const)
    it(`of ${what}`, async () => {
      await using world = await driveWorld(env)
      await store(world)
    })

  it('of a file whose content the drive knows', async () => {
    await using world = await driveWorld(conflictAt('create', 2))
    const drive = world.open()
    const folderId = await drive.ensureFolder('a')
    const source = bytesSource(CONTENT)
    await drive.upload({ folderId, name: 'x' }, source)
    const copy = await drive.upload({ folderId, name: 'y' }, source)
    assert.equal(copy.sha1, source.sha1)
    assert.equal((await drive.list(folderId)).length, 2)
  })
})

describe('a clock that is wrong', () => {
  for (const [what, updatedAt] of [
    ['the token seems to be of tomorrow', Date.now() + DAY],
    ['the token seems to be fresh, and has expired', Date.now()],
    ['the token seems to be old', Date.now() - DAY],
    ['the token has no time', Number.NaN],
  ] as const)
    it(`does no harm: ${what}`, async () => {
      await using world = await driveWorld()
      const updated = Number.isNaN(updatedAt) ? 'yesterday' : new Date(updatedAt).toISOString()
      writeTokenFile(world.tokenPath, { updated_at: updated })
      await store(world)
    })
})

describe('a night with 413', () => {
  for (const [endpoint, expected] of [
    ['access_token', 'token_refresh_failed'],
    ['create', 'drive_rejected'],
    ['put', 'upload_failed'],
    ['complete', 'drive_rejected'],
    ['get', 'drive_rejected'],
  ] as const)
    it(`at ${endpoint} is ${expected}: the package stays, nothing is cleaned, and the retry goes on`, async () => {
      await using world = await nightWorld(driveScenarios({ endpoint, scenario: 'html_error', status: 413 }))
      assert.equal((await world.night().runScheduled()).errorCode, expected)
      assert.deepEqual(world.alerts, ['backup.start INFO 2', `backup.failed ERROR 4 ${expected}`])
      assert.equal(world.staging().length, 1)
      assert.ok(!world.calls.includes('clean'))
      const { outcome, run } = await world.night().retryOnce()
      assert.equal(outcome, 'succeeded')
      assert.equal((await world.remote()).length, 2)
      assert.equal(await world.restore(run?.backupId ?? ''), DATABASE_CONTENT)
    })
})
