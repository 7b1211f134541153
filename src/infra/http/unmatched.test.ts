import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ok, routeOf } from '../../wire/route.ts'
import { methodTable } from './unmatched.ts'

const route = routeOf('Test')

const methodsAt = methodTable(
  (
    [
      ['GET', '/alerts'],
      ['GET', '/alerts/:id'],
      ['PUT', '/alerts/:id'],
      ['POST', '/alerts/report'],
      ['GET', '/console/*'],
    ] as const
  ).map(([method, path]) =>
    route({
      method,
      path,
      operation: 'test',
      summary: 'A test',
      access: 'public',
      answers: {},
      read: () => ok(null),
    }),
  ),
)

for (const [path, methods] of [
  ['/alerts', ['GET', 'HEAD']],
  ['/%61lerts', ['GET', 'HEAD']],
  ['/alerts/1', ['GET', 'PUT', 'HEAD']],
  ['/alerts/a%2Fb', ['GET', 'PUT', 'HEAD']],
  ['/alerts/%', ['GET', 'PUT', 'HEAD']],
  ['/alerts/report', ['POST']],
  ['/console/', ['GET', 'HEAD']],
  ['/console/orders/1', ['GET', 'HEAD']],
  ['/', []],
  ['/alerts/', []],
  ['/alerts/1/2', []],
  ['/console', []],
] as const)
  test(`${path} has the methods ${methods.join(', ') || 'of no route'}`, () => {
    assert.deepEqual(methodsAt(path), methods)
  })
