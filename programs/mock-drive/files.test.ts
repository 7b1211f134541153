import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../test/support/clock.ts'
import {
  newFile,
  sha1,
  startTestDrive,
  type DriveAnswer,
  type TestDrive,
} from '../../test/support/mock-drive.ts'

const refusal = ({ status, json }: DriveAnswer) => [status, json()['code']]
const namesIn = (answer: DriveAnswer) =>
  (answer.json()['items'] as { name: string }[]).map(({ name }) => name)

async function folder(drive: TestDrive, name: string, parent_file_id = 'root', check_name_mode = 'refuse') {
  const answer = await drive.call('openFile/create', {
    parent_file_id,
    name,
    type: 'folder',
    check_name_mode,
  })
  return answer.json()
}

test('a folder is created once with refuse, and anew with the other modes', async () => {
  await using drive = await startTestDrive()
  const first = await folder(drive, 'backup')
  assert.deepEqual([first['exist'], first['type']], [false, 'folder'])
  const second = await folder(drive, 'backup')
  assert.deepEqual([second['exist'], second['file_id']], [true, first['file_id']])
  assert.equal((await folder(drive, 'backup', 'root', 'auto_rename'))['file_name'], 'backup(1)')
  const twin = await folder(drive, 'backup', 'root', 'ignore')
  assert.notEqual(twin['file_id'], first['file_id'])
})

test('a file of the same name exists, is renamed, or stands beside', async () => {
  await using drive = await startTestDrive()
  const first = await drive.store('a.txt', ['1'])
  const refused = (await drive.call('openFile/create', newFile('a.txt', 1))).json()
  assert.deepEqual([refused['exist'], refused['file_id']], [true, first['file_id']])
  assert.equal((await drive.store('a.txt', ['2'], { check_name_mode: 'auto_rename' }))['name'], 'a(1).txt')
  assert.equal((await drive.store('a.txt', ['3'], { check_name_mode: 'ignore' }))['name'], 'a.txt')
})

test('members that are missing or wrong are named', async () => {
  await using drive = await startTestDrive()
  for (const [members, name] of [
    [{ drive_id: '' }, 'DriveId'],
    [{ parent_file_id: undefined }, 'ParentFileId'],
    [{ name: 7 }, 'Name'],
    [{ name: 'a/b' }, 'Name'],
    [{ name: 'x'.repeat(1_025) }, 'Name'],
    [{ type: 'link' }, 'Type'],
    [{ check_name_mode: undefined }, 'CheckNameMode'],
    [{ size: -1 }, 'Size'],
    [{ size: 1.5 }, 'Size'],
    [{ content_hash: 'xyz', size: 1 }, 'ContentHash'],
    [{ content_hash: sha1('a') }, 'Size'],
  ] as const) {
    const answer = await drive.call('openFile/create', newFile('f', 1, members))
    assert.deepEqual(refusal(answer), [400, `InvalidParameter.${name}`])
  }
  const orphan = await drive.call('openFile/create', newFile('f', 1, { parent_file_id: 'nowhere' }))
  assert.deepEqual(refusal(orphan), [400, 'InvalidResource.ParentFileId'])
})

test('a folder is listed in pages, in any order, and without unfinished uploads', async () => {
  const clock = fakeClock()
  await using drive = await startTestDrive({}, clock)
  for (const name of ['b', 'c', 'a']) {
    await drive.store(name, [name.repeat(3)])
    clock.advance(1_000)
  }
  await folder(drive, 'd')
  await drive.call('openFile/create', newFile('unfinished', 1))
  const list = (members: object) => drive.call('openFile/list', { parent_file_id: 'root', ...members })
  assert.deepEqual(namesIn(await list({})), ['b', 'c', 'a', 'd'])
  assert.deepEqual(namesIn(await list({ type: 'file', order_by: 'name', order_direction: 'DESC' })), [
    'c',
    'b',
    'a',
  ])
  assert.deepEqual(namesIn(await list({ type: 'folder' })), ['d'])
  const first = await list({ limit: 2 })
  assert.deepEqual(namesIn(first), ['b', 'c'])
  const marker = first.json()['next_marker']
  const last = await list({ limit: 2, marker })
  assert.deepEqual([namesIn(last), last.json()['next_marker']], [['a', 'd'], ''])
  assert.deepEqual(refusal(await list({ limit: 201 })), [400, 'InvalidParameter.Limit'])
  assert.deepEqual(refusal(await list({ marker: 'x' })), [400, 'InvalidParameter.Marker'])
})

test('files are found by id, by path, together and by a search', async () => {
  await using drive = await startTestDrive()
  const { file_id: parent_file_id } = await folder(drive, 'backup')
  const file = await drive.store('a.tar', ['1'], { parent_file_id })
  const byPath = await drive.call('openFile/get_by_path', { file_path: '/backup/a.tar' })
  assert.equal(byPath.json()['file_id'], file['file_id'])
  const absent = await drive.call('openFile/get_by_path', { file_path: '/backup/b' })
  assert.deepEqual(refusal(absent), [404, 'NotFound.File'])
  assert.deepEqual(refusal(await drive.call('openFile/get', { file_id: 'x' })), [404, 'NotFound.FileId'])
  const file_list = [file['file_id'], 'x'].map((file_id) => ({ drive_id: 'drive-1', file_id }))
  assert.deepEqual(namesIn(await drive.call('openFile/batch/get', { file_list })), ['a.tar'])
  const query = `name match 'tar' and parent_file_id = '${String(parent_file_id)}' and type = 'file'`
  const search = await drive.call('openFile/search', { query, return_total_count: true })
  assert.deepEqual([namesIn(search), search.json()['total_count']], [['a.tar'], 1])
  assert.deepEqual(refusal(await drive.call('openFile/search', { query: 'x' })), [
    400,
    'InvalidParameter.Query',
  ])
})

test('a file is downloaded whole and in ranges, until the URL expires', async () => {
  const clock = fakeClock()
  await using drive = await startTestDrive({}, clock)
  const file = await drive.store('a', ['01234', '56789'])
  const link = (
    await drive.call('openFile/getDownloadUrl', { file_id: file['file_id'], expire_sec: 60 })
  ).json()
  const get = (range?: string) =>
    drive.request('GET', String(link['url']), range ? { headers: { range } } : {})
  assert.deepEqual([(await get()).status, (await get()).text], [200, '0123456789'])
  for (const [range, text, contentRange] of [
    ['bytes=3-6', '3456', 'bytes 3-6/10'],
    ['bytes=8-', '89', 'bytes 8-9/10'],
    ['bytes=-2', '89', 'bytes 8-9/10'],
    ['bytes=8-99', '89', 'bytes 8-9/10'],
  ] as const) {
    const answer = await get(range)
    assert.deepEqual(
      [answer.status, answer.text, answer.headers.get('content-range')],
      [206, text, contentRange],
    )
  }
  assert.equal((await get('bytes=10-')).status, 416)
  assert.equal((await get('lines=1-2')).status, 200)
  clock.advance(60_000)
  const late = await get()
  assert.deepEqual([late.status, /<Message>(.*)</.exec(late.text)?.[1]], [403, 'Request has expired.'])
  assert.equal((await drive.request('GET', '/download/x')).status, 403)
})

test('files are renamed, starred, moved and copied', async () => {
  await using drive = await startTestDrive()
  const { file_id: to_parent_file_id } = await folder(drive, 'f')
  const { file_id } = await drive.store('a', ['1'])
  const updated = await drive.call('openFile/update', { file_id, name: 'b', starred: true })
  assert.deepEqual([updated.json()['name'], updated.json()['starred']], ['b', true])
  const copy = (await drive.call('openFile/copy', { file_id, to_parent_file_id: 'root' })).json()
  assert.equal((await drive.call('openFile/get', { file_id: copy['file_id'] })).json()['name'], 'b(1)')
  assert.equal((await drive.call('openFile/move', { file_id, to_parent_file_id })).status, 200)
  const moved = await drive.call('openFile/get_by_path', { file_path: '/f/b' })
  assert.equal(moved.json()['file_id'], file_id)
  const inside = await drive.call('openFile/move', { file_id: to_parent_file_id, to_parent_file_id })
  assert.deepEqual(refusal(inside), [400, 'InvalidResource.ParentFileId'])
})

test('a trashed file is refused, a deleted one is gone, and shared content stays', async () => {
  await using drive = await startTestDrive()
  const { file_id } = await drive.store('a', ['content'])
  const copy = (await drive.call('openFile/copy', { file_id, to_parent_file_id: 'root' })).json()
  await drive.call('openFile/recyclebin/trash', { file_id })
  assert.deepEqual(refusal(await drive.call('openFile/get', { file_id })), [
    403,
    'ForbiddenFileInTheRecycleBin',
  ])
  assert.deepEqual(namesIn(await drive.call('openFile/list', { parent_file_id: 'root' })), ['a(1)'])
  assert.equal((await drive.call('openFile/delete', { file_id })).status, 200)
  assert.deepEqual(refusal(await drive.call('openFile/delete', { file_id })), [404, 'NotFound.FileId'])
  const link = (await drive.call('openFile/getDownloadUrl', { file_id: copy['file_id'] })).json()
  assert.equal((await drive.request('GET', String(link['url']))).text, 'content')
})

test('a folder is deleted with everything in it, by a task that has ended', async () => {
  await using drive = await startTestDrive()
  const { file_id: outer } = await folder(drive, 'outer')
  const { file_id: inner } = await folder(drive, 'inner', String(outer))
  const file = await drive.store('a', ['1'], { parent_file_id: inner })
  const { async_task_id } = (await drive.call('openFile/delete', { file_id: outer })).json()
  assert.equal((await drive.call('openFile/async_task/get', { async_task_id })).json()['state'], 'Succeed')
  assert.equal((await drive.call('openFile/get', { file_id: file['file_id'] })).status, 404)
  const space = (await drive.call('user/getSpaceInfo')).json()['personal_space_info']
  assert.deepEqual(space, { used_size: 0, total_size: 1024 ** 3 })
})

test('an unknown path and a wrong method answer in the style of the drive', async () => {
  await using drive = await startTestDrive()
  const unknown = await drive.request('POST', '/adrive/v1.0/openFile/none')
  assert.deepEqual(Object.keys(unknown.json()), ['timestamp', 'status', 'error', 'path'])
  assert.equal(unknown.status, 404)
  const get = await drive.request('GET', '/adrive/v1.0/openFile/list')
  assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST'])
  assert.equal((await drive.request('GET', '/upload')).status, 404)
})

test('a body that is no JSON object, too large, or of another type is refused', async () => {
  await using drive = await startTestDrive()
  const headers = { authorization: `Bearer ${await drive.token()}`, 'content-type': 'application/json' }
  const post = (body: string, more = {}) =>
    drive.request('POST', '/adrive/v1.0/openFile/list', { headers: { ...headers, ...more }, body })
  for (const body of ['', '[]', 'null', '{', '"a"'])
    assert.deepEqual(refusal(await post(body)), [400, 'InvalidParameter.Body'])
  assert.equal((await post('{}', { 'content-type': 'text/plain' })).status, 415)
  assert.deepEqual(refusal(await post(' '.repeat(1024 ** 2 + 1))), [413, 'RequestBodyTooLarge'])
})
