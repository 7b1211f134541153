import assert from 'node:assert/strict'
import { test } from 'node:test'
import { graphOf } from '../../../test/support/tunnels-graph.ts'
import { sessionItem } from '../../../test/support/tunnels-sample.ts'
import { sessionKey } from './graph.ts'

const user = (name: string) => ({ user: { id: name, name } })

test('gateways, users and addresses are sorted, addresses by number', () => {
  const graph = graphOf([
    sessionItem({ virtual_ip: '100.64.0.10', ...user('zoe') }),
    sessionItem({ virtual_ip: '100.64.0.9', ...user('zoe') }),
    sessionItem({ virtual_ip: '100.64.0.2', ...user('Ada') }),
  ])
  assert.deepEqual(
    graph.map(({ gateway }) => gateway.name),
    ['primary', 'standby'],
  )
  assert.deepEqual(
    graph[0]?.users.map(({ name }) => name),
    ['Ada', 'zoe'],
  )
  assert.deepEqual(
    graph[0].users[1]?.sessions.map(({ virtualIp }) => virtualIp),
    ['100.64.0.9', '100.64.0.10'],
  )
  assert.deepEqual(graph[1]?.users, [])
})

test('a gateway that the list does not know counts as away', () => {
  const graph = graphOf([sessionItem({ virtual_ip: '100.64.0.2', gateway: 'lost' })])
  const lost = graph.find(({ gateway }) => gateway.name === 'lost')
  assert.equal(lost?.gateway.isAlive, false)
  assert.equal(lost.sessions.length, 1)
})

test('two users of one name are two nodes', () => {
  const [primary] = graphOf([
    sessionItem({ virtual_ip: '100.64.0.2', user: { id: '1', name: 'ada' } }),
    sessionItem({ virtual_ip: '100.64.0.3', user: { id: '2', name: 'ada' } }),
  ])
  assert.equal(new Set(primary?.users.map(({ key }) => key)).size, 2)
})

test('a user who moves to another gateway keeps their nodes', () => {
  const keysAt = (gateway: string) => {
    const graph = graphOf([sessionItem({ virtual_ip: '100.64.0.2', gateway, id: `at ${gateway}` })])
    const users = graph.flatMap(({ users: each }) => each)
    return users.flatMap(({ key, sessions }) => [key, ...sessions.map(sessionKey)])
  }
  assert.deepEqual(keysAt('primary'), keysAt('standby'))
})

test('a user at two gateways has a node at each', () => {
  const graph = graphOf([
    sessionItem({ virtual_ip: '100.64.0.2' }),
    sessionItem({ virtual_ip: '100.64.0.3', gateway: 'standby' }),
  ])
  const keys = graph.flatMap(({ users }) => users.map(({ key }) => key))
  assert.equal(new Set(keys).size, 2)
})
