import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../test/support/clock.ts'
import { DRIVE_CLIENT_ID, DRIVE_CLIENT_SECRET, startTestDrive } from '../../test/support/mock-drive.ts'

test('a refresh token is exchanged once; its successor is valid', async () => {
  await using drive = await startTestDrive()
  const first = await drive.refresh()
  assert.equal(first.status, 200)
  assert.deepEqual([first.json()['token_type'], first.json()['expires_in']], ['Bearer', 7200])
  const again = await drive.refresh()
  assert.deepEqual([again.status, again.json()['code']], [401, 'RefreshTokenInvalid'])
  const next = await drive.refresh({ refresh_token: first.json()['refresh_token'] })
  assert.equal(next.status, 200)
})

test('a wrong client, secret or grant type is refused, and leaves the refresh token valid', async () => {
  await using drive = await startTestDrive()
  for (const [members, code] of [
    [{ client_id: 'other' }, 'InvalidClientId'],
    [{ client_secret: 'other' }, 'InvalidClientSecret'],
    [{ client_secret: undefined }, 'InvalidParameter.ClientSecret'],
    [{ grant_type: 'password' }, 'InvalidGrantType'],
    [{ grant_type: 'authorization_code', code: 'x' }, 'InvalidCode'],
    [{ refresh_token: '' }, 'InvalidParameter.RefreshToken'],
  ] as const) {
    const answer = await drive.refresh(members)
    assert.deepEqual([answer.status, answer.json()['code']], [400, code])
  }
  assert.equal((await drive.refresh()).status, 200)
})

test('the token endpoint takes a form, too', async () => {
  await using drive = await startTestDrive({ MOCK_DRIVE_REFRESH_TOKEN: 'mine' })
  const body = new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: 'mine',
    client_id: DRIVE_CLIENT_ID,
    client_secret: DRIVE_CLIENT_SECRET,
  })
  assert.equal((await drive.request('POST', '/oauth/access_token', { body })).status, 200)
})

test('an access token expires, an unknown one is invalid, and an older one stays valid after a refresh', async () => {
  const clock = fakeClock()
  await using drive = await startTestDrive({ MOCK_DRIVE_TOKEN_TTL: '60' }, clock)
  const { access_token: older, refresh_token } = (await drive.refresh()).json()
  await drive.refresh({ refresh_token })
  const info = (token: unknown) =>
    drive.request('GET', '/oauth/users/info', { headers: { authorization: `Bearer ${String(token)}` } })
  assert.equal((await info(older)).status, 200)
  clock.advance(60_000)
  assert.equal((await info(older)).json()['code'], 'AccessTokenExpired')
  const unknown = await info('x')
  assert.deepEqual([unknown.status, unknown.json()['code']], [401, 'AccessTokenInvalid'])
})

test('an expired refresh token is refused', async () => {
  const clock = fakeClock()
  await using drive = await startTestDrive({}, clock)
  clock.advance(91 * 86_400_000)
  assert.equal((await drive.refresh()).json()['code'], 'RefreshTokenExpired')
})

test('every route but the token endpoint and signed URLs needs a token', async () => {
  await using drive = await startTestDrive()
  for (const path of ['user/getDriveInfo', 'openFile/create', 'openFile/list', 'openFile/uploadPart']) {
    const answer = await drive.request('POST', `/adrive/v1.0/${path}`, {
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    assert.deepEqual([answer.status, answer.json()['code']], [401, 'AccessTokenInvalid'], path)
  }
})

test('the account routes name the user, the drives, the space and the scopes', async () => {
  await using drive = await startTestDrive({ MOCK_DRIVE_QUOTA: '1000', MOCK_DRIVE_ID: 'drive-1' })
  assert.equal((await drive.call('user/getDriveInfo')).json()['default_drive_id'], 'drive-1')
  await drive.store('a', ['12345'])
  const space = (await drive.call('user/getSpaceInfo')).json()
  assert.deepEqual(space, { personal_space_info: { used_size: 5, total_size: 1000 } })
  const headers = { authorization: `Bearer ${await drive.token()}` }
  const scopes = await drive.request('GET', '/oauth/users/scopes', { headers })
  assert.match(scopes.text, /file:all:write/)
})

test('with MOCK_DRIVE_ID another drive is refused', async () => {
  await using drive = await startTestDrive({ MOCK_DRIVE_ID: 'other' })
  const answer = await drive.call('openFile/list', { parent_file_id: 'root' })
  assert.deepEqual([answer.status, answer.json()['code']], [403, 'UserNotAllowedAccessDrive'])
})
