import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  driveScenarios,
  idsIn,
  newFile,
  partUrl,
  put,
  startTestDrive,
  type DriveAnswer,
} from '../../test/support/mock-drive.ts'

const refusal = ({ status, json }: DriveAnswer) => [status, json()['code']]
const at = (endpoint: string, scenario: string, members: object = {}) => ({ endpoint, scenario, ...members })

test('scenarios apply once, in order, each to its endpoint', async () => {
  await using drive = await startTestDrive(
    driveScenarios(
      at('getDriveInfo', 'rate_limited', { retry_after_ms: 70 }),
      at('list', 'server_error', { status: 503 }),
      at('getDriveInfo', 'html_error'),
    ),
  )
  const info = () => drive.call('user/getDriveInfo')
  const limited = await info()
  assert.deepEqual([limited.status, limited.headers.get('x-retry-after')], [429, '70'])
  assert.equal(limited.json()['code'], 'TooManyRequests')
  const page = await info()
  assert.deepEqual([page.status, page.headers.get('content-type')], [502, 'text/html; charset=utf-8'])
  assert.equal((await info()).status, 200)
  assert.equal((await drive.call('openFile/list', { parent_file_id: 'root' })).status, 503)
})

test('delay: the regular answer comes late', async () => {
  await using drive = await startTestDrive(driveScenarios(at('getDriveInfo', 'delay', { delay_ms: 80 })))
  await drive.token()
  const startedAt = performance.now()
  assert.equal((await drive.call('user/getDriveInfo')).status, 200)
  // Timers count whole milliseconds.
  assert.ok(performance.now() - startedAt >= 79)
})

test('reset: the request has no effect; lost_answer: it has', async () => {
  await using drive = await startTestDrive(
    driveScenarios(at('access_token', 'reset'), at('access_token', 'lost_answer')),
  )
  await assert.rejects(drive.refresh())
  await assert.rejects(drive.refresh())
  assert.deepEqual(refusal(await drive.refresh()), [401, 'RefreshTokenInvalid'])
})

test('cut: a part and a download end after some bytes', async () => {
  await using drive = await startTestDrive(
    driveScenarios(at('put', 'cut', { after_bytes: 3 }), at('download', 'cut', { after_bytes: 3 })),
  )
  const created = (await drive.call('openFile/create', newFile('a', 1))).json()
  await assert.rejects(drive.request('PUT', partUrl(created, 0), put('x'.repeat(100))))
  const { uploaded_parts } = (await drive.call('openFile/listUploadedParts', idsIn(created))).json()
  assert.deepEqual(uploaded_parts, [])
  await drive.request('PUT', partUrl(created, 0), put('x'.repeat(100)))
  const { file_id } = (await drive.call('openFile/complete', idsIn(created))).json()
  const { url } = (await drive.call('openFile/getDownloadUrl', { file_id })).json()
  await assert.rejects(drive.request('GET', String(url)))
  assert.equal((await drive.request('GET', String(url))).text.length, 100)
})

test('slow: a download comes byte by byte', async () => {
  await using drive = await startTestDrive(driveScenarios(at('download', 'slow', { bytes_per_second: 20 })))
  const { file_id } = await drive.store('a', ['1234'])
  const { url } = (await drive.call('openFile/getDownloadUrl', { file_id })).json()
  const startedAt = performance.now()
  assert.equal((await drive.request('GET', String(url))).text, '1234')
  assert.ok(performance.now() - startedAt >= 190)
})

test('truncated_json: half of the answer', async () => {
  await using drive = await startTestDrive(driveScenarios(at('getDriveInfo', 'truncated_json')))
  const half = await drive.call('user/getDriveInfo')
  assert.equal(half.status, 200)
  assert.throws(() => half.json(), SyntaxError)
})

test('expired_token: the access token has expired, and a refresh helps', async () => {
  await using drive = await startTestDrive(driveScenarios(at('getDriveInfo', 'expired_token')))
  const { access_token, refresh_token } = (await drive.refresh()).json()
  const scopes = (token: unknown) =>
    drive.request('POST', '/adrive/v1.0/user/getDriveInfo', {
      headers: { authorization: `Bearer ${String(token)}`, 'content-type': 'application/json' },
      body: '{}',
    })
  for (const _ of [1, 2]) assert.deepEqual(refusal(await scopes(access_token)), [401, 'AccessTokenExpired'])
  const next = (await drive.refresh({ refresh_token })).json()['access_token']
  assert.equal((await scopes(next)).status, 200)
})

test('revoked_token: no token is valid any more', async () => {
  await using drive = await startTestDrive(driveScenarios(at('getDriveInfo', 'revoked_token')))
  const { refresh_token } = (await drive.refresh()).json()
  await using other = await startTestDrive(driveScenarios(at('getDriveInfo', 'revoked_token')))
  assert.deepEqual(refusal(await other.call('user/getDriveInfo')), [401, 'AccessTokenInvalid'])
  assert.deepEqual(refusal(await other.refresh({ refresh_token })), [401, 'RefreshTokenInvalid'])
})

test('expired_url: the URL is of no use any more', async () => {
  await using drive = await startTestDrive(
    driveScenarios(at('put', 'expired_url'), at('download', 'expired_url')),
  )
  const created = (await drive.call('openFile/create', newFile('a', 1))).json()
  for (const _ of [1, 2])
    assert.equal((await drive.request('PUT', partUrl(created, 0), put('x'))).status, 403)
  const { file_id } = await drive.store('b', ['1'])
  const { url } = (await drive.call('openFile/getDownloadUrl', { file_id })).json()
  for (const _ of [1, 2]) assert.equal((await drive.request('GET', String(url))).status, 403)
})

test('lost_part: the part is confirmed and not stored', async () => {
  await using drive = await startTestDrive(driveScenarios(at('put', 'lost_part')))
  const created = (await drive.call('openFile/create', newFile('a', 1))).json()
  assert.equal((await drive.request('PUT', partUrl(created, 0), put('x'))).status, 200)
  const answer = await drive.call('openFile/complete', idsIn(created))
  assert.deepEqual(refusal(answer), [400, 'InvalidParameter.PartNumber'])
})

test('no_upload_urls: create names no URLs', async () => {
  await using drive = await startTestDrive(driveScenarios(at('create', 'no_upload_urls')))
  const { part_info_list } = (await drive.call('openFile/create', newFile('a', 1))).json()
  assert.deepEqual(part_info_list, [{ part_number: 1, content_type: '' }])
})

test('wrong_hash, wrong_size and wrong_bytes: the answer differs from the content', async () => {
  await using drive = await startTestDrive(
    driveScenarios(at('get', 'wrong_hash'), at('list', 'wrong_size'), at('download', 'wrong_bytes')),
  )
  const { file_id, content_hash } = await drive.store('a', ['12'])
  assert.notEqual((await drive.call('openFile/get', { file_id })).json()['content_hash'], content_hash)
  const { items } = (await drive.call('openFile/list', { parent_file_id: 'root' })).json()
  assert.equal((items as { size: number }[])[0]?.size, 1)
  const { url } = (await drive.call('openFile/getDownloadUrl', { file_id })).json()
  assert.equal((await drive.request('GET', String(url))).text, '02')
})

test('full: the drive has no space', async () => {
  await using drive = await startTestDrive(
    driveScenarios(at('create', 'full'), at('put', 'full'), at('complete', 'full')),
  )
  assert.deepEqual(refusal(await drive.call('openFile/create', newFile('a', 1))), [
    403,
    'QuotaExhausted.Drive',
  ])
  const created = (await drive.call('openFile/create', newFile('a', 1))).json()
  assert.match((await drive.request('PUT', partUrl(created, 0), put('x'))).text, /QuotaExhausted\.Drive/)
  await drive.request('PUT', partUrl(created, 0), put('x'))
  assert.equal((await drive.call('openFile/complete', idsIn(created))).status, 403)
  assert.equal((await drive.call('openFile/complete', idsIn(created))).status, 200)
})

test('a delayed request is aborted when the drive closes', async () => {
  await using drive = await startTestDrive({
    ...driveScenarios(at('getDriveInfo', 'delay', { delay_ms: 600_000 })),
    MOCK_DRIVE_LOG: '1',
  })
  await drive.token()
  const late = assert.rejects(drive.call('user/getDriveInfo'))
  await drive.refresh({ refresh_token: 'x' })
  await drive.close(20)
  await late
})

test('the log has no token, no secret and no path', async () => {
  await using drive = await startTestDrive({ MOCK_DRIVE_LOG: '1' })
  await drive.store('canary-name', ['1'])
  const log = drive.lines.join('')
  assert.ok(drive.lines.length >= 3)
  for (const canary of [await drive.token(), 'drive_secret', 'drive_refresh', 'canary-name', 'signature'])
    assert.ok(!log.includes(canary), canary)
})
