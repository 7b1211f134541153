import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { bytesSource } from '../../../programs/backup/drive/sources.ts'
import { readDriveSecrets } from '../../../programs/backup/drive/secrets-file.ts'
import { verifyUpload } from '../../../programs/backup/drive/stored-files.ts'
import type { UploadState } from '../../../programs/backup/drive/port.ts'
import { freePort } from '../../support/loopback.ts'
import { DRIVE_CLIENT_SECRET, DRIVE_REFRESH_TOKEN, driveScenarios } from '../../support/mock-drive.ts'
import { driveWorld, readAll, writeTokenFile, type DriveWorld } from '../../support/drive-world.ts'
import { fakeWaitingClock } from '../../support/waiting-clock.ts'

const at = (endpoint: string, scenario: string, members: object = {}) => ({ endpoint, scenario, ...members })
const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item)
const CONTENT = randomBytes(3_500)

async function uploadAndVerify(world: DriveWorld, source = bytesSource(CONTENT)) {
  const drive = world.open()
  const folderId = await drive.ensureFolder('a')
  const file = await drive.upload({ folderId, name: 'x' }, source)
  await verifyUpload(drive, file, source)
  const names = (await drive.list(folderId)).map(({ name }) => name)
  assert.deepEqual(names, ['x'])
  return readAll(drive.download(file))
}

describe('an upload succeeds', () => {
  for (const fault of [
    ...['create', 'put', 'complete', 'list', 'get', 'getDownloadUrl'].map((name) => at(name, 'lost_answer')),
    ...['create', 'complete', 'list', 'get'].map((name) => at(name, 'truncated_json')),
    ...['create', 'list', 'complete'].map((name) => at(name, 'expired_token')),
    at('put', 'expired_url'),
    at('put', 'cut', { after_bytes: 500 }),
    at('put', 'lost_part'),
    at('download', 'expired_url'),
    at('download', 'cut', { after_bytes: 500 }),
    at('create', 'no_upload_urls'),
    at('complete', 'wrong_hash'),
  ]) {
    it(`after ${fault.scenario} at ${fault.endpoint}`, async () => {
      await using world = await driveWorld(driveScenarios(fault))
      assert.deepEqual(await uploadAndVerify(world), CONTENT)
    })
  }

  it('when the last part was lost', async () => {
    const stored = times(3, at('put', 'delay', { delay_ms: 1 }))
    await using world = await driveWorld(driveScenarios(...stored, at('put', 'lost_part')))
    assert.deepEqual(await uploadAndVerify(world), CONTENT)
  })

  it('when every URL expires before it is used once', async () => {
    await using world = await driveWorld(driveScenarios(...times(2, at('put', 'expired_url'))))
    assert.deepEqual(await uploadAndVerify(world), CONTENT)
  })

  it('at a limited rate', async () => {
    await using world = await driveWorld()
    const drive = world.open({ bytesPerSecond: 1_000 })
    const folderId = await drive.ensureFolder('a')
    await drive.upload({ folderId, name: 'x' }, bytesSource(CONTENT))
    const paused = world.pauses.reduce((sum, each) => sum + each, 0)
    assert.ok(paused > 2_500 && paused < 3_600, String(paused))
  })
})

describe('an upload fails', () => {
  for (const [code, faults] of [
    ['drive_unreachable', times(5, at('create', 'server_error'))],
    ['drive_unreachable', times(5, at('list', 'rate_limited', { retry_after_ms: 10 }))],
    ['drive_unreachable', [at('list', 'rate_limited', { retry_after_ms: 60_000 })]],
    ['drive_unreachable', times(5, at('complete', 'reset'))],
    ['upload_failed', times(5, at('put', 'server_error'))],
    ['upload_failed', times(40, at('put', 'expired_url'))],
    ['upload_failed', times(40, at('put', 'lost_part'))],
    ['drive_rejected', [at('create', 'html_error', { status: 404 }), at('create', 'full')]],
    ['drive_rejected', [at('put', 'full')]],
    ['drive_rejected', [at('complete', 'full')]],
    ['drive_rejected', times(2, at('list', 'expired_token'))],
    ['verify_mismatch', [at('get', 'wrong_hash')]],
    ['verify_mismatch', [at('get', 'wrong_size')]],
    ['token_refresh_failed', [at('access_token', 'revoked_token')]],
    ['token_refresh_failed', [at('access_token', 'lost_answer')]],
    ['token_refresh_failed', [at('access_token', 'truncated_json')]],
    ['token_refresh_failed', [at('list', 'revoked_token')]],
    ['token_refresh_failed', times(5, at('access_token', 'server_error'))],
    ['drive_unreachable', times(5, at('access_token', 'reset'))],
  ] as const) {
    const [first] = faults
    it(`with ${code} after ${faults.length} × ${first.scenario} at ${first.endpoint}`, async () => {
      await using world = await driveWorld(driveScenarios(...faults))
      await assert.rejects(uploadAndVerify(world), { errorCode: code })
      assert.ok(world.pauses.reduce((sum, each) => sum + each, 0) < 60_000)
    })
  }

  it('with drive_unreachable when nothing listens', async () => {
    await using world = await driveWorld()
    const drive = world.open({ apiUrl: `http://127.0.0.1:${await freePort()}` })
    await assert.rejects(drive.freeBytes(), { errorCode: 'drive_unreachable', message: /ECONNREFUSED/ })
  })

  for (const [what, origin] of [
    ['its name is unknown', 'http://drive.invalid'],
    ['it speaks no TLS', 'https://127.0.0.1'],
  ] as const) {
    it(`with drive_unreachable when ${what}`, async () => {
      await using world = await driveWorld()
      const drive = world.open({ apiUrl: `${origin}:${world.mock.port}` })
      await assert.rejects(drive.freeBytes(), {
        errorCode: 'drive_unreachable',
        message: /the connection failed \([A-Z_]+\)/,
      })
    })
  }

  it('with drive_unreachable when the drive does not answer: 30 s a call, 60 s in all', async () => {
    await using world = await driveWorld(
      driveScenarios(...times(9, at('getSpaceInfo', 'delay', { delay_ms: 600_000 }))),
    )
    await world.open().ensureFolder('a')
    const clock = fakeWaitingClock()
    clock.advance(Date.parse(String(world.tokens()['updated_at'])) - clock.now())
    const startedAt = clock.monotonic()
    const failed = assert.rejects(world.open({ clock, random: () => 1 }).freeBytes(), {
      errorCode: 'drive_unreachable',
      message: /no answer within/,
    })
    await clock.pass(30_000)
    await clock.pass(1_000)
    await clock.pass(29_000)
    await failed
    assert.equal(clock.monotonic() - startedAt, 60_000)
  })

  it('with drive_unreachable when a download has wrong bytes at the end of its tries', async () => {
    await using world = await driveWorld(
      driveScenarios(...times(9, at('download', 'cut', { after_bytes: 0 }))),
    )
    await assert.rejects(uploadAndVerify(world), { errorCode: 'drive_unreachable' })
  })
})

describe('an interrupted upload', () => {
  it('is continued by another process with the parts that the drive has', async () => {
    const slow = times(2, at('put', 'delay', { delay_ms: 1 }))
    await using world = await driveWorld({
      ...driveScenarios(...slow, at('put', 'full')),
      MOCK_DRIVE_LOG: '1',
    })
    const source = bytesSource(CONTENT)
    const first = world.open()
    const folderId = await first.ensureFolder('a')
    let state: UploadState | undefined
    const onState = (each: UploadState) => void (state = JSON.parse(JSON.stringify(each)) as UploadState)
    await assert.rejects(first.upload({ folderId, name: 'x' }, source, { onState }), {
      errorCode: 'drive_rejected',
    })
    const progress: number[] = []
    const file = await world.open().upload({ folderId, name: 'x' }, source, {
      resume: state,
      onProgress: (bytes) => void progress.push(bytes),
    })
    assert.equal(file.sha1, source.sha1)
    assert.deepEqual(progress, [3_000, 3_500])
    const puts = world.mock.lines.filter((line) => line.includes('"endpoint":"put"'))
    assert.equal(puts.length, 5)
  })

  it('begins again when the drive has forgotten it, or when it belongs to another content', async () => {
    await using world = await driveWorld()
    const drive = world.open()
    const folderId = await drive.ensureFolder('a')
    const source = bytesSource(CONTENT)
    const { size, sha1 } = source
    const forgotten = { fileId: 'f', uploadId: 'u', size, sha1, partSize: 1_000, hasUrls: true }
    const file = await drive.upload({ folderId, name: 'x' }, source, { resume: forgotten })
    assert.equal(file.sha1, sha1)
    const other = await drive.upload({ folderId, name: 'y' }, bytesSource('other'), { resume: forgotten })
    assert.equal(other.size, 5)
  })

  it('leaves the old file', async () => {
    await using world = await driveWorld(
      driveScenarios(at('create', 'delay', { delay_ms: 1 }), ...times(5, at('put', 'server_error'))),
    )
    const drive = world.open()
    const folderId = await drive.ensureFolder('a')
    await assert.rejects(drive.upload({ folderId, name: 'x' }, bytesSource('one')))
    const old = await drive.upload({ folderId, name: 'x' }, bytesSource('one'))
    await using full = await driveWorld(
      driveScenarios(at('put', 'delay', { delay_ms: 1 }), at('put', 'full')),
    )
    const second = full.open()
    const target = { folderId: await second.ensureFolder('a'), name: 'x' }
    const first = await second.upload(target, bytesSource('one'))
    await assert.rejects(second.upload(target, bytesSource('two')))
    assert.deepEqual(await second.list(target.folderId), [first])
    assert.equal(old.size, 3)
  })
})

describe('the token file', () => {
  it('is renewed with its owner, group, mode and other members kept, and leaves no temporary file', async () => {
    await using world = await driveWorld()
    writeTokenFile(world.tokenPath, { note: 'kept' })
    chmodSync(world.tokenPath, 0o400)
    if (process.getuid?.() === 0) chownSync(world.tokenPath, 12, 34)
    const before = statSync(world.tokenPath)
    await world.open().freeBytes()
    const after = statSync(world.tokenPath)
    assert.deepEqual([after.uid, after.gid, after.mode], [before.uid, before.gid, before.mode])
    assert.notEqual(after.ino, before.ino)
    const { note, drive_id, root_dir, expires_in, access_token } = world.tokens()
    assert.deepEqual([note, drive_id, root_dir, expires_in], ['kept', 'drive-1', 'servers/main', 7_200])
    assert.match(String(access_token), /^da-/)
    assert.deepEqual(readdirSync(dirname(world.tokenPath)), ['drive-token.json'])
  })

  it('is not renewed while the access token is valid, and is before it expires', async () => {
    await using world = await driveWorld({ MOCK_DRIVE_LOG: '1' })
    const refreshes = () => world.mock.lines.filter((line) => line.includes('"access_token"')).length
    await world.open().freeBytes()
    await world.open().freeBytes()
    assert.equal(refreshes(), 1)
    const { refresh_token, access_token } = world.tokens()
    const late = new Date(Date.now() - (7_200 - 199) * 1_000).toISOString()
    writeTokenFile(world.tokenPath, { refresh_token, access_token, updated_at: late })
    await world.open().freeBytes()
    assert.equal(refreshes(), 2)
  })

  it('serves several clients that renew it at the same moment', async () => {
    await using world = await driveWorld()
    const drives = times(4, 0).map(() => world.open())
    await Promise.all(drives.map((drive) => drive.freeBytes()))
    await Promise.all(drives.map((drive) => drive.freeBytes()))
    await world.open().freeBytes()
  })

  for (const [what, damage] of [
    ['group can read it', (path: string) => chmodSync(path, 0o640)],
    ['others can read it', (path: string) => chmodSync(path, 0o604)],
    ['it is missing', (path: string) => rmSync(path)],
    ['it is empty', (path: string) => writeFileSync(path, '')],
    ['it is no JSON', (path: string) => writeFileSync(path, '{"access_token": "canary-token", ')],
    ['it is a list', (path: string) => writeFileSync(path, '[]')],
    ['a member is missing', (path: string) => writeTokenFile(path, { refresh_token: undefined })],
    ['a member has another type', (path: string) => writeTokenFile(path, { expires_in: '7200' })],
    ['it is a directory', (path: string) => (rmSync(path), mkdirSync(path, 0o700))],
  ] as const) {
    it(`is token_unreadable when ${what}`, async () => {
      await using world = await driveWorld()
      damage(world.tokenPath)
      assert.throws(
        () => world.open(),
        (error: unknown) =>
          (error as { errorCode?: string }).errorCode === 'token_unreadable' &&
          !inspect(error).includes('canary'),
      )
    })
  }

  it('whose directory takes no file costs no refresh token', async () => {
    await using world = await driveWorld()
    const attempt = `${world.tokenPath}.${process.pid}.try`
    mkdirSync(`${attempt}/full`, { recursive: true })
    await assert.rejects(world.open().freeBytes(), {
      errorCode: 'token_refresh_failed',
      message: /could not be stored \(.*\), so they were not renewed$/,
    })
    rmSync(attempt, { recursive: true })
    assert.ok((await world.open().freeBytes()) > 0)
  })

  it('that cannot be replaced is token_refresh_failed', async () => {
    await using world = await driveWorld()
    mkdirSync(`${world.tokenPath}.tmp`)
    await assert.rejects(world.open().freeBytes(), {
      errorCode: 'token_refresh_failed',
      message: /could not be stored/,
    })
    assert.equal(world.tokens()['access_token'], 'stale')
  })
})

describe('the secrets file', () => {
  it('has the client id and secret, and must be private', async () => {
    await using world = await driveWorld()
    const path = `${world.tokenPath}.env`
    writeFileSync(path, '# the drive\nexport DRIVE_CLIENT_ID="id"\nDRIVE_CLIENT_SECRET=a#b=c\n', {
      mode: 0o600,
    })
    const { clientId, clientSecret } = readDriveSecrets(path)
    assert.deepEqual([clientId, clientSecret.reveal()], ['id', 'a#b=c'])
    chmodSync(path, 0o644)
    assert.throws(() => readDriveSecrets(path), { errorCode: 'token_unreadable' })
    writeFileSync(path, 'DRIVE_CLIENT_ID=id\n')
    chmodSync(path, 0o600)
    assert.throws(() => readDriveSecrets(path), /DRIVE_CLIENT_SECRET is missing/)
  })
})

describe('secrets', () => {
  it('are in no error and in no state', async () => {
    for (const endpoint of ['access_token', 'create', 'put', 'complete']) {
      await using world = await driveWorld(driveScenarios(...times(9, at(endpoint, 'server_error'))))
      const seen: unknown[] = []
      const drive = world.open()
      const work = async () => {
        const folderId = await drive.ensureFolder('a')
        await drive.upload({ folderId, name: 'x' }, bytesSource(CONTENT), {
          onState: (state) => void seen.push(state),
        })
      }
      await work().catch((error: unknown) => void seen.push(error))
      const text = inspect(seen, { depth: 12, showHidden: true }) + JSON.stringify(seen)
      const { access_token, refresh_token } = world.tokens()
      for (const canary of [
        DRIVE_CLIENT_SECRET,
        DRIVE_REFRESH_TOKEN,
        access_token,
        refresh_token,
        'x-signature',
      ])
        assert.ok(
          canary === 'stale' || !text.includes(String(canary)),
          `${endpoint}: ${String(canary)}\n${text}`,
        )
      assert.ok(text.includes(endpoint === 'put' ? 'upload' : endpoint))
    }
  })

  it('are sent to no other host: a redirect is not followed', async () => {
    await using world = await driveWorld({ MOCK_DRIVE_LOG: '1' })
    await world.open().freeBytes()
    const requests = world.mock.lines.length
    const other = createServer((_, response) => response.writeHead(307, { Location: world.mock.url }).end())
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const drive = world.open({ apiUrl: `http://127.0.0.1:${port}` })
    await assert.rejects(drive.freeBytes(), { errorCode: 'drive_rejected', status: 307 })
    assert.equal(world.mock.lines.length, requests)
    other.close()
  })
})
