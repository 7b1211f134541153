import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newFile, partUrl, startTestDrive } from '../../test/support/mock-drive.ts'
import { sendBytes } from '../../test/support/send-bytes.ts'
import { ENDPOINTS } from './endpoint.ts'
import { PATHS } from './endpoint-names.ts'

const JSON_PATHS = ENDPOINTS.filter(({ body }) => body !== 'raw' && body !== 'none').map(
  ({ name }) => PATHS[name],
)
const NAMES =
  'drive_id file_id parent_file_id name type check_name_mode size part_info_list marker content_hash pre_hash proof_code ' +
  'upload_id query file_path limit to_parent_file_id __proto__ constructor grant_type client_id client_secret refresh_token'
const value = fc.oneof(
  fc.constantFrom(
    'root',
    'file',
    'folder',
    'refuse',
    'ignore',
    'drive-1',
    'refresh_token',
    "name = 'a'",
    '/a',
    0,
    1,
  ),
  fc.jsonValue(),
)

// Random bytes seldom get past the first character of a parser, so most bodies are JSON objects with known members.
const body = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .dictionary(fc.constantFrom(...NAMES.split(' ')), value)
      .map((each) => Buffer.from(JSON.stringify(each))),
  },
  { weight: 1, arbitrary: fc.json().map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 2_000 }) },
)

test('any body gets an answer below 500, an error with a code', async () => {
  await using drive = await startTestDrive()
  const authorization = `Bearer ${await drive.token()}`
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...JSON_PATHS), body, async (path, bytes) => {
      const headers = { authorization, 'content-type': 'application/json' }
      const answer = await drive.request('POST', path, { headers, body: Buffer.from(bytes) })
      assert.ok(answer.status < 500, `${path} ${answer.text}`)
      if (answer.status !== 200) assert.equal(typeof answer.json()['code'], 'string')
    }),
    { numRuns: 500 },
  )
})

test('any path and query of parts and downloads is refused, unless it is signed', async () => {
  await using drive = await startTestDrive()
  const created = (await drive.call('openFile/create', newFile('a', 1))).json()
  const url = partUrl(created, 0)
  const target = fc.oneof(
    fc
      .string({ unit: 'binary' })
      .map((text) => `/upload/${encodeURIComponent(text.toWellFormed())}/1?x-expires=1`),
    fc.string().map((text) => `/download/${encodeURI(text)}`.replaceAll('#', '')),
    fc.tuple(fc.nat({ max: url.length }), fc.constantFrom('a', '%', '=', '0')).map(([index, character]) => {
      const at = Math.max(index, url.indexOf('/upload') + 1)
      return url.slice(url.indexOf('/upload'), at) + character + url.slice(at)
    }),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('GET', 'PUT'), target, async (method, path) => {
      const answer = await drive.request(method, path, method === 'PUT' ? { body: Buffer.from('x') } : {})
      assert.ok([403, 404, 405].includes(answer.status), `${path} ${answer.status}`)
    }),
    { numRuns: 300 },
  )
})

test('the drive goes on after any bytes on a connection', async () => {
  await using drive = await startTestDrive()
  const start = fc.constantFrom(
    '',
    'POST /oauth/access_token HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nContent-Type: application/json\r\n\r\n',
    'POST /adrive/v1.0/openFile/create HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
    'PUT /upload/a/1?x-signature=',
    'GET /download/',
    'FOO / HTTP/1.1\r\n\r\n',
  )
  await fc.assert(
    fc.asyncProperty(start, fc.uint8Array({ maxLength: 300 }), async (head, bytes) => {
      const answers = await sendBytes(drive.port, Buffer.concat([Buffer.from(head), bytes]))
      assert.doesNotMatch(answers, /^HTTP\/1\.1 5/m)
      assert.equal((await drive.request('GET', '/oauth/users/info')).status, 401)
    }),
    { numRuns: 200 },
  )
})
