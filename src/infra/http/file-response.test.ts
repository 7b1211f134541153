import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { Type } from 'typebox'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { startRouteServer } from '../../../test/support/route-server.ts'
import { testStore } from '../../../test/support/store.ts'
import { systemClock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { FileContent } from '../../wire/file-content.ts'
import { ok, routeOf } from '../../wire/route.ts'
import { parseByteRange } from './file-response.ts'

const route = routeOf('Reports')

test('a file that is deleted before it is opened is answered with the error of its operation', async () => {
  using directory = temporaryDirectory()
  await using world = await testStore('sqlite')
  const missing = () => new AppError('not_found', 'report_not_found', 'The report has no file.')
  const file = { path: join(directory.path, 'deleted'), name: 'report', sizeBytes: 10, tag: 'a', missing }
  const getFile = route({
    method: 'GET',
    path: '/report',
    operation: 'getReport',
    summary: 'A file',
    access: ['admin'],
    answers: { 200: { description: 'The file.', schema: Type.String(), contentType: 'text/plain' } },
    read: () => ok(new FileContent(file)),
  })
  await using server = await startRouteServer({ store: world.store, clock: systemClock, routes: [getFile] })
  const answer = await server.send('GET', '/report')
  assert.equal(answer.status, 404)
  assert.equal(((await answer.json()) as { code: string }).code, 'report_not_found')
  for (const name of ['content-disposition', 'etag', 'accept-ranges'])
    assert.equal(answer.headers.get(name), null, name)
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
})

const SIZE = 1_000

const RANGES: readonly (readonly [
  header: string | undefined,
  expected: ReturnType<typeof parseByteRange>,
])[] = [
  [undefined, 'whole'],
  ['bytes=0-', { first: 0, last: 999 }],
  ['bytes=0-0', { first: 0, last: 0 }],
  ['Bytes=10-19', { first: 10, last: 19 }],
  ['bytes= 10-19 ', { first: 10, last: 19 }],
  ['bytes=999-', { first: 999, last: 999 }],
  ['bytes=0-99999999999999999999999', { first: 0, last: 999 }],
  ['bytes=-1', { first: 999, last: 999 }],
  ['bytes=-1000', { first: 0, last: 999 }],
  ['bytes=-5000', { first: 0, last: 999 }],
  ['bytes=1000-', 'unsatisfiable'],
  ['bytes=99999999999999999999999-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=5-4', 'whole'],
  ['bytes=9007199254740993-9007199254740992', 'whole'],
  ['bytes=0-1,5-6', 'whole'],
  ['bytes=', 'whole'],
  ['bytes=-', 'whole'],
  ['bytes=a-b', 'whole'],
  ['items=0-1', 'whole'],
]

for (const [header, expected] of RANGES) {
  test(`the range ${header} of a file of ${SIZE} bytes`, () => {
    assert.deepEqual(parseByteRange(header, SIZE), expected)
  })
}

test('no part of an empty file can be sent', () => {
  assert.equal(parseByteRange('bytes=0-', 0), 'unsatisfiable')
  assert.equal(parseByteRange('bytes=-1', 0), 'unsatisfiable')
})
