import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { keepList, keepView, keptList, loadListsOf, removeView, renameView } from './list-memory.ts'

const storage = new Map<string, string>()

beforeEach(() => {
  storage.clear()
  globalThis.localStorage = {
    getItem: (key: string) => storage.get(key) ?? null,
    setItem: (key: string, value: string) => void storage.set(key, value),
  } as Storage
  loadListsOf('ada')
})

const namesOf = (path: string) => keptList(path).views?.map(({ name }) => name)

test('views are kept by user and list: replaced by their name, renamed and removed', () => {
  keepView('/orders', { name: 'due', query: { expires: 'next-10m' } })
  keepView('/orders', { name: 'mine', query: { platform: 'live' } })
  keepView('/orders', { name: 'due', query: { expires: 'next-1h' } })
  keepView('/tickets', { name: 'open', query: { status: 'open' } })
  assert.deepEqual(namesOf('/orders'), ['mine', 'due'])
  assert.deepEqual(keptList('/orders').views?.[1]?.query, { expires: 'next-1h' })
  renameView('/orders', 'due', 'soon')
  assert.deepEqual(namesOf('/orders'), ['mine', 'soon'])
  renameView('/orders', 'mine', 'soon')
  assert.deepEqual(keptList('/orders').views, [{ name: 'soon', query: { platform: 'live' } }])
  removeView('/orders', 'soon')
  assert.deepEqual([namesOf('/orders'), namesOf('/tickets')], [[], ['open']])
  loadListsOf('boris')
  assert.equal(namesOf('/tickets'), undefined)
  loadListsOf('ada')
  assert.deepEqual(namesOf('/tickets'), ['open'])
})

test('what another tab has kept since is not lost', () => {
  keepList('/orders', () => ({ columns: ['status'] }))
  storage.set('platform.lists.ada', '{"/tickets":{"columns":["level"]}}')
  keepList('/orders', () => ({ columns: ['platform'] }))
  assert.deepEqual([keptList('/orders').columns, keptList('/tickets').columns], [['platform'], ['level']])
})

test('something else in the browser is no view', () => {
  for (const text of ['nothing', '7', '{"/orders":{"views":[{"name":1},{"name":"a"},null],"columns":{}}}']) {
    storage.set('platform.lists.ada', text)
    loadListsOf('ada')
    assert.deepEqual(keptList('/orders').views ?? [], [])
    assert.equal(keptList('/orders').columns, undefined)
  }
})
