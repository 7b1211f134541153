import assert from 'node:assert/strict'
import { test } from 'node:test'
import { graphOf, judgedSessions } from '../../../test/support/tunnels-graph.ts'
import { sessionItem, timeBefore } from '../../../test/support/tunnels-sample.ts'
import type { Health } from './health.ts'
import {
  filterSessions,
  findSelection,
  nextSorting,
  sortSessions,
  toggleHealth,
  type ColumnName,
} from './table.ts'

const ITEMS = [
  sessionItem({
    virtual_ip: '100.64.0.10',
    user: { id: '1', name: 'boris' },
    rtt_ms: null,
    connected_at: timeBefore(1_000),
  }),
  sessionItem({
    virtual_ip: '100.64.0.9',
    user: { id: '2', name: 'Ada' },
    rtt_ms: 300,
    gateway: 'standby',
    device: null,
  }),
  sessionItem({
    virtual_ip: '100.64.0.11',
    user: { id: '3', name: 'carla' },
    rtt_ms: 9,
    remote_address: '203.0.113.80',
  }),
]
const SESSIONS = judgedSessions(ITEMS)
const ALL: ReadonlySet<Health> = new Set()
const names = (sessions: readonly { user: { name: string } }[]) => sessions.map(({ user }) => user.name)

const ORDERS: Readonly<Record<ColumnName, readonly string[]>> = {
  user: ['Ada', 'boris', 'carla'],
  address: ['Ada', 'boris', 'carla'],
  gateway: ['boris', 'carla', 'Ada'],
  rtt: ['carla', 'Ada', 'boris'],
  connected: ['boris', 'Ada', 'carla'],
}

for (const [column, order] of Object.entries(ORDERS) as [ColumnName, string[]][]) {
  test(`the column ${column} sorts`, () => {
    assert.deepEqual(names(sortSessions(SESSIONS, { column, descending: false })), order)
  })
}

test('a column that is chosen again turns around, another one begins upwards', () => {
  const turned = nextSorting({ column: 'rtt', descending: false }, 'rtt')
  assert.deepEqual(turned, { column: 'rtt', descending: true })
  assert.deepEqual(names(sortSessions(SESSIONS, turned)), ['boris', 'Ada', 'carla'])
  assert.deepEqual(nextSorting(turned, 'user'), { column: 'user', descending: false })
})

const SEARCHES = [
  { words: '', found: ['boris', 'Ada', 'carla'] },
  { words: 'ADA', found: ['Ada'] },
  { words: '100.64.0.1', found: ['boris', 'carla'] },
  { words: 'standby', found: ['Ada'] },
  { words: ' primary  203.0.113 ', found: ['carla'] },
  { words: 'primary standby', found: [] },
]

for (const { words, found } of SEARCHES) {
  test(`"${words}" finds ${found.join(', ') || 'nothing'}`, () => {
    assert.deepEqual(names(filterSessions(SESSIONS, { words, healths: ALL })), found)
  })
}

test('the filter by health shows the chosen states only', () => {
  const slow = toggleHealth(ALL, 'slow')
  assert.deepEqual(names(filterSessions(SESSIONS, { words: '', healths: slow })), ['Ada'])
  assert.deepEqual([...toggleHealth(slow, 'slow')], [])
})

test('all healths chosen are the same as none', () => {
  const four: ReadonlySet<Health> = new Set(['fast', 'fair', 'slow', 'measuring'])
  assert.equal(toggleHealth(four, 'silent').size, 0)
})

test('a selected node stands for its sessions', () => {
  const graph = graphOf(ITEMS)
  const selected = (key: string) => {
    const selection = findSelection(graph, key)
    return selection && [selection.label, ...names(selection.sessions)]
  }
  assert.deepEqual(selected('gateway primary'), ['primary', 'boris', 'carla'])
  assert.deepEqual(selected('user 3 0'), ['carla', 'carla'])
  assert.deepEqual(selected('address 100.64.0.9'), ['100.64.0.9', 'Ada'])
  assert.equal(selected('user 9 0'), undefined)
})
