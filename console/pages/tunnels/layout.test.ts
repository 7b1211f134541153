import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { graphOf } from '../../../test/support/tunnels-graph.ts'
import { sessionItem, someSessions, type SessionItem } from '../../../test/support/tunnels-sample.ts'
import { layoutGraph } from './layout.ts'
import { CLUSTER_RADIUS, type Layout, type PlacedNode } from './placed.ts'

const NOBODY: ReadonlySet<string> = new Set()

function layoutOf(
  sessions: readonly SessionItem[],
  { width = 850, expanded = NOBODY, mostUsers = 200 } = {},
): Layout {
  return layoutGraph(graphOf(sessions), { width, expanded, mostUsers })
}

/** The room that a node takes, text included, as its shape draws it. */
function boxOf(node: PlacedNode, { frame }: Layout) {
  const along = (from: number, to: number) =>
    node.side === 1
      ? { left: node.x + from, right: node.x + to }
      : { left: node.x - to, right: node.x - from }
  const rows = (half: number) => ({ top: node.y - half, bottom: node.y + half })
  switch (node.kind) {
    case 'gateway': {
      const left = frame.sides === 2 ? node.x - frame.hub.width / 2 : 0
      return { left, right: left + frame.hub.width, ...rows(frame.hub.height / 2) }
    }
    case 'user':
      return node.form === 'box'
        ? { ...along(0, frame.userWidth), ...rows(14) }
        : { ...along(-CLUSTER_RADIUS, frame.laneWidth - CLUSTER_RADIUS - 3), ...rows(CLUSTER_RADIUS) }
    case 'more':
      return { ...along(-CLUSTER_RADIUS, frame.laneWidth - CLUSTER_RADIUS - 3), ...rows(CLUSTER_RADIUS) }
    case 'session':
    case 'rest':
      return { ...along(-7, 13 + frame.addressWidth), ...rows(16) }
  }
}

const WIDTHS = [296, 420, 640, 700, 782, 850, 1_300]
const CROWDS = [
  { what: 'no session', sessions: [] },
  { what: '5 sessions', sessions: someSessions(5, 3) },
  { what: '40 sessions', sessions: someSessions(40, 12) },
  { what: '500 sessions', sessions: someSessions(500, 120) },
  { what: '2,000 sessions of as many users', sessions: someSessions(2_000, 2_000) },
]

for (const { what, sessions } of CROWDS) {
  describe(`the picture of ${what}`, () => {
    for (const width of WIDTHS) {
      const layout = layoutOf(sessions, { width })
      const boxes = layout.nodes.map((node) => ({ key: node.key, ...boxOf(node, layout) }))

      test(`lies within ${width} pixels`, () => {
        for (const { key, left, right, top, bottom } of boxes) {
          assert.ok(left >= -0.5 && right <= width + 0.5, `${key} from ${left} to ${right}`)
          assert.ok(top >= -0.5 && bottom <= layout.height + 0.5, `${key} from ${top} to ${bottom}`)
        }
      })

      test(`has no node upon another one, ${width} pixels wide`, () => {
        const sorted = boxes.toSorted((a, b) => a.top - b.top)
        sorted.forEach((a, index) => {
          for (const b of sorted.slice(index + 1)) {
            if (b.top >= a.bottom) break
            assert.ok(b.left >= a.right || b.right <= a.left, `${a.key} and ${b.key}`)
          }
        })
      })

      test(`joins every node to its parent, ${width} pixels wide`, () => {
        const keys = new Set(layout.nodes.map(({ key }) => key))
        assert.equal(keys.size, layout.nodes.length)
        const children = layout.nodes.filter(({ parent }) => parent !== null)
        assert.deepEqual(
          layout.edges.map(({ from, to }) => `${from} → ${to}`).sort(),
          children.map(({ parent, key }) => `${parent} → ${key}`).sort(),
        )
        assert.ok(layout.edges.every(({ from, path }) => keys.has(from) && !path.includes('NaN')))
      })
    }
  })
}

const kinds = (layout: Layout, kind: PlacedNode['kind']) => layout.nodes.filter((node) => node.kind === kind)

test('few sessions are drawn one by one, many as clusters of their users', () => {
  assert.equal(kinds(layoutOf(someSessions(40, 12)), 'session').length, 40)
  assert.equal(kinds(layoutOf(someSessions(41, 12)), 'session').length, 0)
})

test('a user who is opened among many has a node for each address', () => {
  const sessions = someSessions(500, 120)
  const [user] = kinds(layoutOf(sessions), 'user')
  assert.ok(user?.kind === 'user')
  const opened = layoutOf(sessions, { expanded: new Set([user.key]) })
  assert.deepEqual(
    kinds(opened, 'session').map(({ parent }) => parent),
    user.node.sessions.map(() => user.key),
  )
})

test('opening a user changes no one’s side', () => {
  const sessions = someSessions(500, 120)
  const closed = layoutOf(sessions)
  const [user] = kinds(closed, 'user')
  const opened = layoutOf(sessions, { expanded: new Set([user?.key ?? '']) })
  const sides = (layout: Layout) => kinds(layout, 'user').map(({ key, side }) => [key, side])
  assert.deepEqual(sides(opened), sides(closed))
})

test('users beyond the limit become one node, but never a single one', () => {
  const atOneGateway = (users: number) =>
    Array.from({ length: users }, (_, index) =>
      sessionItem({ virtual_ip: `100.64.0.${index + 2}`, user: { id: `u${index}`, name: `u${index}` } }),
    )
  assert.equal(kinds(layoutOf(atOneGateway(11), { mostUsers: 10 }), 'more').length, 0)
  const [more] = kinds(layoutOf(atOneGateway(12), { mostUsers: 10 }), 'more')
  assert.ok(more?.kind === 'more')
  assert.deepEqual(
    more.users.map(({ name }) => name),
    ['u10', 'u11'],
  )
})

test('the addresses of one user beyond two dozen become one node', () => {
  const sessions = Array.from({ length: 30 }, (_, index) =>
    sessionItem({ virtual_ip: `100.64.0.${index + 2}` }),
  )
  const layout = layoutOf(sessions)
  const [rest] = kinds(layout, 'rest')
  assert.ok(rest?.kind === 'rest')
  assert.equal(kinds(layout, 'session').length + rest.sessions.length, 30)
})

test('times stand on the lines where there is room, and nowhere else', () => {
  const sessions = someSessions(5, 3)
  const labelled = (width: number) => layoutOf(sessions, { width }).edges.filter(({ label }) => label).length
  assert.equal(labelled(850), 5)
  assert.equal(labelled(296), 0)
})
