import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../../support/platform.ts'
import { openApi, assertRefused } from './client.ts'

interface Backup {
  readonly id: string
  readonly status: string
  readonly created_at: string
  readonly sha256: string
  readonly size_bytes: number
}

const api = await openApi()
after(() => api[Symbol.asyncDispose]())

const send = (method: string, path: string, body?: object) =>
  api.send({ method, path: `/data/backups${path}`, ...(body && { body }) })

async function complete(): Promise<Backup> {
  const { id } = (await send('POST', '', { note: 'by a test' })).json() as Backup
  return eventually('the end of the backup', async () => {
    const backup = (await send('GET', `/${id}`)).json() as Backup
    return backup.status === 'completed' ? backup : undefined
  })
}

let backup: Backup
let whole: Buffer

const download = (headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
  api.platform.call(method, `/data/backups/${backup.id}/file`, { headers })

async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer())
}

before(async () => {
  backup = await complete()
  whole = await bytesOf(await download())
})

test('the whole file is sent with its length, its name and its SHA-256', async () => {
  const response = await download()
  const names = ['content-length', 'etag', 'accept-ranges', 'content-disposition', 'content-type']
  assert.equal(response.status, 200)
  assert.deepEqual(
    names.map((name) => response.headers.get(name)),
    [
      String(backup.size_bytes),
      `"${backup.sha256}"`,
      'bytes',
      `attachment; filename="platform-${backup.created_at.slice(0, 10)}-${backup.id}.db"`,
      'application/octet-stream',
    ],
  )
  assert.equal((await bytesOf(response)).length, backup.size_bytes)
})

const SIZE = 'SIZE'
const PARTS: readonly (readonly [range: string, first: number, last: number])[] = [
  ['bytes=0-0', 0, 0],
  ['bytes=100-199', 100, 199],
  ['bytes=100-', 100, -1],
  ['bytes=-100', -100, -1],
  [`bytes=0-${SIZE}`, 0, -1],
  [`bytes=-${SIZE}0`, 0, -1],
]

for (const [range, first, last] of PARTS) {
  test(`the range ${range} is sent alone`, async () => {
    const size = backup.size_bytes
    const [from, to] = [first, last].map((at) => (at < 0 ? size + at : at)) as [number, number]
    const response = await download({ range: range.replace(SIZE, String(size)) })
    assert.equal(response.status, 206)
    assert.equal(response.headers.get('content-range'), `bytes ${from}-${to}/${size}`)
    assert.deepEqual(await bytesOf(response), whole.subarray(from, to + 1))
  })
}

for (const range of ['bytes=1-0', 'bytes=0-1,4-5', 'lines=0-1', 'bytes=x']) {
  test(`the range ${range} is ignored`, async () => {
    const response = await download({ range })
    assert.equal(response.status, 200)
    assert.equal((await bytesOf(response)).length, backup.size_bytes)
  })
}

for (const range of [`bytes=${SIZE}-`, 'bytes=-0', 'bytes=99999999999999999999-']) {
  test(`the range ${range} is 416 with the size of the file`, async () => {
    const response = await download({ range: range.replace(SIZE, String(backup.size_bytes)) })
    assert.equal(response.status, 416)
    assert.equal(response.headers.get('content-range'), `bytes */${backup.size_bytes}`)
    assert.equal(((await response.json()) as { code: string }).code, 'range_not_satisfiable')
  })
}

test('a range is sent only if the client has a part of the same file', async () => {
  const range = 'bytes=0-9'
  const tag = `"${backup.sha256}"`
  const statusOf = async (ifRange: string) => {
    const response = await download({ range, 'if-range': ifRange })
    await bytesOf(response)
    return response.status
  }
  assert.equal(await statusOf(tag), 206)
  for (const other of ['"another"', `W/${tag}`, 'Sat, 31 Jan 2026 02:00:00 GMT'])
    assert.equal(await statusOf(other), 200, other)
})

test('conditions of the request are judged before its range', async () => {
  const range = 'bytes=0-9'
  const tag = `"${backup.sha256}"`
  const same = await download({ range, 'if-none-match': `"a", W/${tag}` })
  assert.deepEqual([same.status, same.headers.get('etag'), await same.text()], [304, tag, ''])
  const other = await download({ range, 'if-match': '"another"' })
  assert.deepEqual(
    [other.status, ((await other.json()) as { code: string }).code],
    [412, 'precondition_failed'],
  )
  const known = await download({ range, 'if-match': tag, 'if-none-match': '"another"' })
  assert.equal(known.status, 206)
  await bytesOf(known)
})

test('HEAD has the length of the whole file, and no body', async () => {
  const response = await download({ range: 'bytes=0-9' }, 'HEAD')
  assert.deepEqual(
    [response.status, response.headers.get('content-length'), (await bytesOf(response)).length],
    [200, String(backup.size_bytes), 0],
  )
})

for (const keep of [0, 1_001, 1.5, '7', null]) {
  test(`pruning to ${JSON.stringify(keep)} backups is 400`, async () => {
    assertRefused(await send('POST', '/prune', { keep }), 400, 'validation_failed', 'keep')
  })
}

test('a note of more than 1,000 characters is 400, and a request without a body has none', async () => {
  assertRefused(await send('POST', '', { note: 'x'.repeat(1_001) }), 400, 'validation_failed', 'note')
  const requested = await send('POST', '')
  assert.equal((requested.json() as { note: unknown }).note, null)
  await eventually('it ends', async () => {
    const { id } = requested.json() as Backup
    return ((await send('GET', `/${id}`)).json() as Backup).status === 'completed'
  })
})

test('an unknown backup is 404', async () => {
  for (const path of ['/unknown', '/unknown/file'])
    assertRefused(await send('GET', path), 404, 'backup_not_found')
  assertRefused(await send('DELETE', '/unknown'), 404, 'backup_not_found')
})

test('when the answer to a deletion is there, the file is gone', async (t) => {
  const directory = temporaryDirectory()
  t.after(() => directory[Symbol.dispose]())
  await using platform: ServedPlatform = await servePlatform({
    dataDir: directory.path,
    modules: 'api,worker',
  })
  const files = () => readdirSync(join(directory.path, 'backups'))
  const make = async () => {
    const { id } = (await (await platform.call('POST', '/data/backups')).json()) as Backup
    return eventually('the end of the backup', async () => {
      const made = (await (await platform.call('GET', `/data/backups/${id}`)).json()) as Backup
      return made.status === 'completed' ? id : undefined
    })
  }
  const ids = [await make(), await make(), await make()]
  assert.equal(files().length, 3)
  const pruned = await platform.call('POST', '/data/backups/prune', { body: { keep: 2 } })
  assert.deepEqual(await pruned.json(), { removed: ids.slice(0, 1), kept: ids.slice(1).toReversed() })
  assert.equal(files().length, 2)
  assert.equal((await platform.call('DELETE', `/data/backups/${ids[1]}`)).status, 204)
  assert.deepEqual(files(), [`${ids[2]}.db`])
})
