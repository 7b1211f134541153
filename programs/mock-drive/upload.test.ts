import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../test/support/clock.ts'
import {
  DRIVE_ID,
  idsIn,
  newFile,
  partUrl,
  proofOf,
  put,
  sha1,
  startTestDrive,
  type DriveAnswer,
} from '../../test/support/mock-drive.ts'

const refusal = ({ status, json }: DriveAnswer) => [status, json()['code']]
const xmlCode = ({ status, text }: DriveAnswer) => [status, /<Code>(\w+)/.exec(text)?.[1]]

test('parts go to their URLs in order, and complete answers with size and SHA-1', async () => {
  await using drive = await startTestDrive()
  const content = ['a'.repeat(1_000), 'b'.repeat(1_000), 'c']
  const record = await drive.store('file.tar.zst', content, { size: 2_001 })
  assert.equal(record['size'], 2_001)
  assert.equal(record['content_hash'], sha1(content.join('')))
  assert.equal(record['category'], 'zip')
  const got = (await drive.call('openFile/get', { file_id: record['file_id'] })).json()
  assert.deepEqual(got, record)
})

test('a part out of order, a part that is stored, and an unknown upload are refused', async () => {
  await using drive = await startTestDrive()
  const created = (await drive.call('openFile/create', newFile('f', 3))).json()
  const putTo = (index: number) => drive.request('PUT', partUrl(created, index), put('x'))
  assert.deepEqual(xmlCode(await putTo(1)), [409, 'PartNotSequential'])
  assert.equal((await putTo(0)).status, 200)
  assert.deepEqual(xmlCode(await putTo(0)), [409, 'PartAlreadyExist'])
  const missing = await drive.call('openFile/complete', idsIn(created))
  assert.deepEqual(refusal(missing), [400, 'InvalidParameter.PartNumber'])
  await putTo(1)
  const { uploaded_parts } = (await drive.call('openFile/listUploadedParts', idsIn(created))).json()
  assert.deepEqual(
    (uploaded_parts as { part_number: number; part_size: number }[]).map((part) => [
      part.part_number,
      part.part_size,
    ]),
    [
      [1, 1],
      [2, 1],
    ],
  )
  await putTo(2)
  assert.equal((await drive.call('openFile/complete', idsIn(created))).status, 200)
  assert.deepEqual(refusal(await drive.call('openFile/complete', idsIn(created))), [400, 'NotFound.UploadId'])
  assert.deepEqual(xmlCode(await putTo(2)), [404, 'NoSuchUpload'])
})

test('a part with a content type, a token, a forged signature, or no length is refused', async () => {
  await using drive = await startTestDrive()
  const created = (await drive.call('openFile/create', newFile('f', 1))).json()
  const url = partUrl(created, 0)
  const typed = await drive.request('PUT', url, { body: 'x' })
  assert.deepEqual(xmlCode(typed), [403, 'SignatureDoesNotMatch'])
  const authorised = await drive.request('PUT', url, { ...put('x'), headers: { authorization: 'Bearer a' } })
  assert.deepEqual(xmlCode(authorised), [400, 'InvalidArgument'])
  const forged = await drive.request('PUT', url.replace(/signature=./, 'signature='), put('x'))
  assert.deepEqual(xmlCode(forged), [403, 'SignatureDoesNotMatch'])
  const other = await drive.request('PUT', url.replace('/1?', '/2?'), put('x'))
  assert.deepEqual(xmlCode(other), [403, 'SignatureDoesNotMatch'])
  const chunked = await drive.request('PUT', url, {
    body: new Blob(['x']).stream(),
    duplex: 'half',
  })
  assert.deepEqual(xmlCode(chunked), [411, 'MissingContentLength'])
})

test('a URL expires, and getUploadUrl gives a new one', async () => {
  const clock = fakeClock()
  await using drive = await startTestDrive({ MOCK_DRIVE_URL_TTL: '2' }, clock)
  const created = (await drive.call('openFile/create', newFile('f', 1))).json()
  clock.advance(2_000)
  const late = await drive.request('PUT', partUrl(created, 0), put('x'))
  assert.deepEqual(xmlCode(late), [403, 'AccessDenied'])
  assert.match(late.text, /Request has expired\./)
  const part_info_list = [{ part_number: 1 }]
  const renewed = (await drive.call('openFile/getUploadUrl', { ...idsIn(created), part_info_list })).json()
  assert.equal((await drive.request('PUT', partUrl(renewed, 0), put('x'))).status, 200)
  const unknown = await drive.call('openFile/getUploadUrl', {
    ...idsIn(created),
    part_info_list: [{ part_number: 2 }],
  })
  assert.deepEqual(refusal(unknown), [400, 'InvalidParameter.PartNumber'])
})

test('part numbers must be 1, 2, 3 and so on', async () => {
  await using drive = await startTestDrive()
  for (const numbers of [
    [2],
    [1, 3],
    [0],
    [1, 1],
    [1.5],
    ['1'],
    Array.from({ length: 10_001 }, (_, n) => n + 1),
  ]) {
    const part_info_list = numbers.map((part_number) => ({ part_number }))
    const answer = await drive.call('openFile/create', newFile('f', 1, { part_info_list }))
    assert.equal(answer.status, 400)
    assert.match(String(answer.json()['code']), /^InvalidParameter\.Part(Number|InfoList)$/)
  }
  const most = await drive.call('openFile/create', newFile('f', 10_000))
  assert.equal((most.json()['part_info_list'] as unknown[]).length, 10_000)
})

test('known content is stored at once, for a client that proves that it has it', async () => {
  await using drive = await startTestDrive()
  const content = Buffer.from(Array.from({ length: 1_000 }, (_, index) => index % 256))
  const created = (await drive.call('openFile/create', newFile('first', 1))).json()
  await drive.request('PUT', partUrl(created, 0), put(content))
  await drive.call('openFile/complete', idsIn(created))
  const members = {
    size: content.length,
    content_hash: sha1(content).toLowerCase(),
    content_hash_name: 'sha1',
    proof_version: 'v1',
  }
  const wrong = await drive.call(
    'openFile/create',
    newFile('second', 1, { ...members, proof_code: 'AAAAAAAAAAA=' }),
  )
  assert.deepEqual(refusal(wrong), [400, 'InvalidRapidProof'])
  assert.deepEqual(refusal(await drive.call('openFile/create', newFile('second', 1, members))), [
    400,
    'InvalidRapidProof',
  ])
  const proof_code = proofOf(await drive.token(), content)
  const rapid = (await drive.call('openFile/create', newFile('second', 1, { ...members, proof_code }))).json()
  assert.equal(rapid['rapid_upload'], true)
  assert.equal((await drive.call('openFile/complete', idsIn(rapid))).json()['content_hash'], sha1(content))
  const unknown = { ...members, proof_code, content_hash: sha1('other') }
  assert.equal(
    (await drive.call('openFile/create', newFile('third', 1, unknown))).json()['rapid_upload'],
    false,
  )
})

test('the proof code belongs to the access token', () => {
  const content = Buffer.from(Array.from({ length: 1_000 }, (_, index) => index % 256))
  // Published with the algorithm
  assert.equal(proofOf('access-token-demo', content), '1NXW19jZ2ts=')
  assert.equal(proofOf('access-token-demo', content.subarray(0, 11)), 'CAkK')
  assert.equal(proofOf('access-token-demo', Buffer.alloc(0)), '')
})

test('a known first kilobyte is 409 PreHashMatched', async () => {
  await using drive = await startTestDrive()
  const content = 'x'.repeat(3_000)
  await drive.store('first', [content])
  const pre_hash = sha1(content.slice(0, 1_024))
  const answer = await drive.call('openFile/create', newFile('second', 1, { size: 3_000, pre_hash }))
  assert.deepEqual(refusal(answer), [409, 'PreHashMatched'])
  assert.equal(answer.json()['file_name'], 'second')
  const other = await drive.call(
    'openFile/create',
    newFile('second', 1, { size: 3_000, pre_hash: sha1('y') }),
  )
  assert.equal(other.status, 200)
})

test('complete refuses another size and another hash than create named', async () => {
  await using drive = await startTestDrive()
  const sized = await drive.store('a', ['12345'], { size: 6 })
  assert.equal(sized['code'], 'InvalidParameter.Size')
  const hashed = await drive.store('b', ['12345'], { size: 5, content_hash: sha1('other') })
  assert.equal(hashed['code'], 'InvalidParameter.ContentHash')
})

test('with MOCK_DRIVE_MIN_PART_SIZE every part but the last has that size', async () => {
  await using drive = await startTestDrive({ MOCK_DRIVE_MIN_PART_SIZE: '4' })
  assert.equal((await drive.store('a', ['123', '4']))['code'], 'InvalidParameter.PartSize')
  assert.equal((await drive.store('b', ['1234', '5']))['size'], 5)
})

test('a file that does not fit is refused at create and at its parts', async () => {
  await using drive = await startTestDrive({ MOCK_DRIVE_QUOTA: '10' })
  const large = await drive.call('openFile/create', newFile('a', 1, { size: 11 }))
  assert.deepEqual(refusal(large), [403, 'QuotaExhausted.Drive'])
  const created = (await drive.call('openFile/create', newFile('a', 1))).json()
  assert.match((await drive.request('PUT', partUrl(created, 0), put('x'.repeat(11)))).text, /QuotaExhausted/)
  assert.equal((await drive.request('PUT', partUrl(created, 0), put('x'.repeat(10)))).status, 200)
})

test('uploadPart takes a part with the token', async () => {
  await using drive = await startTestDrive()
  const created = (await drive.call('openFile/create', newFile('a', 2))).json()
  const post = async (number: number | string, content: string) => {
    const query = new URLSearchParams({
      drive_id: DRIVE_ID,
      file_id: String(created['file_id']),
      upload_id: String(created['upload_id']),
      part_number: String(number),
    })
    return drive.request('POST', `/adrive/v1.0/openFile/uploadPart?${query.toString()}`, {
      headers: { authorization: `Bearer ${await drive.token()}` },
      body: Buffer.from(content),
    })
  }
  assert.deepEqual(refusal(await post(2, 'b')), [409, 'PartNotSequential'])
  assert.deepEqual(refusal(await post('x', 'b')), [400, 'InvalidParameter.PartNumber'])
  assert.equal((await post(1, 'a')).status, 200)
  assert.equal((await post(2, 'b')).status, 200)
  const record = (await drive.call('openFile/complete', idsIn(created))).json()
  assert.equal(record['content_hash'], sha1('ab'))
})

test('with MOCK_DRIVE_DIR files, uploads and tokens outlive a restart', async (t) => {
  const { mkdtempSync, rmSync } = await import('node:fs')
  const directory = mkdtempSync(`${process.env['TMPDIR'] ?? '/tmp'}/mock-drive-`)
  t.after(() => rmSync(directory, { recursive: true }))
  const env = { MOCK_DRIVE_DIR: directory }
  const first = await startTestDrive(env)
  const stored = await first.store('a', ['one', 'two'])
  const { refresh_token } = (await first.refresh({ refresh_token: 'x' })).json()
  assert.equal(refresh_token, undefined)
  const created = (await first.call('openFile/create', newFile('b', 2))).json()
  await first.request('PUT', partUrl(created, 0), put('1'))
  const token = await first.token()
  await first.close(0)
  await using second = await startTestDrive(env)
  const call = async (path: string, members: object) =>
    second.request('POST', `/adrive/v1.0/openFile/${path}`, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ drive_id: DRIVE_ID, ...members }),
    })
  assert.equal((await call('get', { file_id: stored['file_id'] })).json()['content_hash'], sha1('onetwo'))
  const moved = partUrl(created, 1).replace(first.url, second.url)
  assert.equal((await second.request('PUT', moved, put('2'))).status, 200)
  assert.equal((await call('complete', idsIn(created))).json()['content_hash'], sha1('12'))
  assert.equal((await second.refresh()).status, 401)
})
