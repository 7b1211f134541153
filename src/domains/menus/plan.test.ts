import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planOf } from '../../../test/support/menus.ts'
import type { FaultCode } from '../../kernel/errors.ts'
import {
  HIGHEST_POSITION,
  LEVEL_LIMIT,
  NODE_LIMIT,
  type MenuEdit,
  type MenuItem,
  type MenuNode,
} from './model.ts'
import type { MenuPlan } from './plan.ts'

const BEFORE = 1_000
const NOW = 2_000

function node(id: string, parentId: string | null = null, fields: Partial<MenuNode> = {}): MenuNode {
  return {
    id,
    title: id,
    parentId,
    path: null,
    icon: null,
    position: 0,
    enabled: true,
    createdAt: BEFORE,
    updatedAt: BEFORE,
    ...fields,
  }
}

/** `a → b → c`: each one is the parent of the next. */
function chain(...ids: readonly string[]): MenuNode[] {
  return ids.map((id, index) => node(id, ids[index - 1] ?? null))
}

/** Items nested in each other, from the top down. */
function nest(ids: readonly string[]): MenuItem[] {
  const [id, ...below] = ids
  return id === undefined ? [] : [{ id, title: id, children: nest(below) }]
}

const numbered = (count: number, prefix = 'n') =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)

function accepted(nodes: readonly MenuNode[], edit: MenuEdit): MenuPlan {
  const plan = planOf(nodes, edit, NOW)
  assert.ok(!('code' in plan), JSON.stringify(plan))
  return plan
}

const AB = chain('a', 'b')
const LEVELS = numbered(LEVEL_LIMIT)

interface Refusal {
  readonly what: string
  readonly nodes?: readonly MenuNode[]
  readonly edit: MenuEdit
  readonly fault: FaultCode
  readonly path: string
}

const REFUSALS: readonly Refusal[] = [
  {
    what: 'names an id twice',
    nodes: AB,
    edit: { items: [{ id: 'a' }, { id: 'b' }, { id: 'a' }] },
    fault: 'menu_duplicate_id',
    path: 'items.2',
  },
  {
    what: 'names an id twice, once nested',
    nodes: AB,
    edit: { items: [{ id: 'a', children: [{ id: 'b' }, { id: 'a' }] }] },
    fault: 'menu_duplicate_id',
    path: 'items.0.children.1',
  },
  {
    what: 'names two parents of an item',
    nodes: AB,
    edit: { items: [{ id: 'x', title: 'X', children: [{ id: 'b', parentId: 'a' }] }] },
    fault: 'menu_two_parents',
    path: 'items.0.children.0',
  },
  {
    what: 'puts a nested item at the top',
    nodes: AB,
    edit: { items: [{ id: 'a', children: [{ id: 'b', parentId: null }] }] },
    fault: 'menu_two_parents',
    path: 'items.0.children.0',
  },
  {
    what: 'creates a node without a title',
    edit: { items: [{ id: 'a', title: 'A' }, { id: 'b' }] },
    fault: 'required',
    path: 'items.1.title',
  },
  {
    what: 'names a parent that does not exist',
    nodes: AB,
    edit: { items: [{ id: 'a' }, { id: 'c', title: 'C', parentId: 'x' }] },
    fault: 'menu_unknown_parent',
    path: 'items.1',
  },
  {
    what: 'moves a known node below a parent that does not exist',
    nodes: AB,
    edit: { items: [{ id: 'b', parentId: 'x' }] },
    fault: 'menu_unknown_parent',
    path: 'items.0',
  },
  {
    what: 'replaces the parent of a node that keeps it',
    nodes: AB,
    edit: { items: [{ id: 'b' }], replace: true },
    fault: 'menu_deleted_parent',
    path: 'items.0',
  },
  {
    what: 'makes a node its own parent',
    nodes: AB,
    edit: { items: [{ id: 'b', parentId: 'b' }] },
    fault: 'menu_cycle',
    path: 'items.0',
  },
  {
    what: 'makes a new node its own parent',
    edit: { items: [{ id: 'x', title: 'X', parentId: 'x' }] },
    fault: 'menu_cycle',
    path: 'items.0',
  },
  {
    what: 'puts a parent below its child',
    nodes: AB,
    edit: { items: [{ id: 'a', parentId: 'b' }] },
    fault: 'menu_cycle',
    path: 'items.0',
  },
  {
    what: 'nests a parent in a node far below it',
    nodes: chain('a', 'b', 'c', 'd'),
    edit: { items: [{ id: 'c' }, { id: 'd', children: [{ id: 'a' }] }] },
    fault: 'menu_cycle',
    path: 'items.0',
  },
  {
    what: 'makes a cycle behind a node that is only below it',
    nodes: chain('a', 'b', 'c'),
    edit: { items: [{ id: 'c' }, { id: 'a', parentId: 'b' }] },
    fault: 'menu_cycle',
    path: 'items.1',
  },
  {
    what: 'nests one level too deep',
    edit: { items: nest([...LEVELS, 'x']) },
    fault: 'menu_too_deep',
    path: `items.0${'.children.0'.repeat(LEVEL_LIMIT)}`,
  },
  {
    what: 'nests many levels too deep',
    edit: { items: nest(numbered(30)) },
    fault: 'menu_too_deep',
    path: `items.0${'.children.0'.repeat(LEVEL_LIMIT)}`,
  },
  {
    what: 'adds a child to the last level',
    nodes: chain(...LEVELS),
    edit: { items: [{ id: 'x', title: 'X', parentId: `n${LEVEL_LIMIT - 1}` }] },
    fault: 'menu_too_deep',
    path: 'items.0',
  },
  {
    what: 'moves a branch that would reach below the last level',
    nodes: [...chain(...LEVELS), ...chain('x', 'y', 'z')],
    edit: {
      items: [
        { id: 'a', title: 'A' },
        { id: 'x', parentId: `n${LEVEL_LIMIT - 3}` },
      ],
    },
    fault: 'menu_too_deep',
    path: 'items.1',
  },
  {
    what: 'creates one node too many',
    nodes: numbered(NODE_LIMIT - 1).map((id) => node(id)),
    edit: { items: [{ id: 'n0' }, { id: 'x', title: 'X' }, { id: 'y', title: 'Y' }] },
    fault: 'menu_too_many',
    path: 'items.2',
  },
]

for (const { what, nodes = [], edit, fault, path } of REFUSALS) {
  test(`an edit that ${what} is refused: ${fault} at ${path}`, () => {
    const plan = planOf(nodes, edit, NOW)
    assert.ok('code' in plan, JSON.stringify(plan))
    assert.deepEqual([plan.code, plan.path], [fault, path])
  })
}

test('a cycle is refused with its nodes; of a long one the first are shown', () => {
  const short = planOf(AB, { items: [{ id: 'a', parentId: 'b' }] }, NOW)
  assert.equal('code' in short && short.message, 'would be below itself: a → b → a')
  const ids = numbered(20)
  const items = ids.map((id, index) => ({ id, title: id, parentId: ids.at(index - 1) ?? null }))
  const long = planOf([], { items }, NOW)
  assert.match('code' in long ? long.message : '', /^would be below itself: n0 → n19 → .* → … → n0$/)
})

interface Acceptance {
  readonly what: string
  readonly nodes?: readonly MenuNode[]
  readonly edit: MenuEdit
  readonly outcome: Partial<MenuPlan['outcome']>
}

const NOTHING = { created: [], updated: [], moved: [], unchanged: [], deleted: [] }

const ACCEPTANCES: readonly Acceptance[] = [
  {
    what: 'names a child before its parent',
    edit: {
      items: [
        { id: 'b', title: 'B', parentId: 'a' },
        { id: 'a', title: 'A' },
      ],
    },
    outcome: { created: ['b', 'a'] },
  },
  {
    what: 'nests to the last level',
    edit: { items: nest(LEVELS) },
    outcome: { created: LEVELS },
  },
  {
    what: 'exchanges a parent and its child',
    nodes: AB,
    edit: {
      items: [
        { id: 'a', parentId: 'b' },
        { id: 'b', parentId: null },
      ],
    },
    outcome: { moved: ['a', 'b'] },
  },
  {
    what: 'says again what is',
    nodes: AB,
    edit: {
      items: [{ id: 'a', title: 'a', path: null, position: 0, children: [{ id: 'b', enabled: true }] }],
    },
    outcome: { unchanged: ['a', 'b'] },
  },
  {
    what: 'changes fields of one node and the parent of another',
    nodes: [...AB, node('c')],
    edit: { items: [{ id: 'a', title: 'A' }, { id: 'b', parentId: 'c' }, { id: 'c' }] },
    outcome: { updated: ['a'], moved: ['b'], unchanged: ['c'] },
  },
  {
    what: 'moves and renames a node',
    nodes: [...AB, node('c')],
    edit: { items: [{ id: 'b', parentId: 'c', title: 'B' }] },
    outcome: { updated: ['b'], moved: ['b'] },
  },
  {
    what: 'moves a node to another position of another parent',
    nodes: [...AB, node('c')],
    edit: { items: [{ id: 'b', parentId: 'c', position: 3 }] },
    outcome: { moved: ['b'] },
  },
  {
    what: 'changes a position',
    nodes: AB,
    edit: { items: [{ id: 'b', position: 3 }] },
    outcome: { updated: ['b'] },
  },
  {
    what: 'replaces the tree',
    nodes: chain('a', 'b', 'c'),
    edit: {
      items: [
        { id: 'c', parentId: null },
        { id: 'x', title: 'X', parentId: 'c' },
      ],
      replace: true,
    },
    outcome: { created: ['x'], moved: ['c'], deleted: ['a', 'b'] },
  },
  {
    what: 'replaces the tree by nothing',
    nodes: AB,
    edit: { items: [], replace: true },
    outcome: { deleted: ['a', 'b'] },
  },
  {
    what: 'replaces one of the most nodes by another',
    nodes: numbered(NODE_LIMIT).map((id) => node(id)),
    edit: {
      items: [...numbered(NODE_LIMIT - 1).map((id) => ({ id })), { id: 'x', title: 'X' }],
      replace: true,
    },
    outcome: { created: ['x'], deleted: [`n${NODE_LIMIT - 1}`], unchanged: numbered(NODE_LIMIT - 1) },
  },
  {
    what: 'names nodes like members of every object',
    edit: { items: [{ id: '__proto__', title: 'X', children: [{ id: 'constructor', title: 'Y' }] }] },
    outcome: { created: ['__proto__', 'constructor'] },
  },
]

for (const { what, nodes = [], edit, outcome } of ACCEPTANCES) {
  test(`an edit that ${what} is accepted`, () => {
    assert.deepEqual(accepted(nodes, edit).outcome, { ...NOTHING, ...outcome })
  })
}

test('a field that is left out keeps its value, null clears it, and a new node has the defaults', () => {
  const known = node('a', null, { title: 'A', path: '/a', icon: 'box', position: 7, enabled: false })
  const { written } = accepted([known], {
    items: [
      { id: 'a', icon: null },
      { id: 'b', title: 'B' },
    ],
  })
  assert.deepEqual(
    new Map(written.map((each) => [each.id, each])),
    new Map([
      ['a', { ...known, icon: null, updatedAt: NOW }],
      ['b', node('b', null, { title: 'B', position: 8, createdAt: NOW, updatedAt: NOW })],
    ]),
  )
})

test('new nodes go behind the last sibling, in the order of the items', () => {
  const nodes = [node('a', null, { position: 4 }), node('b', 'a', { position: 9 }), node('c', 'a')]
  const { written } = accepted(nodes, {
    items: [
      { id: 'x', title: 'X', parentId: 'a' },
      { id: 'y', title: 'Y', parentId: 'a' },
      { id: 'first', title: 'First', parentId: 'a', position: 1 },
      { id: 'top', title: 'Top' },
      { id: 'b', parentId: null, position: 5 },
      { id: 'alone', title: 'Alone', parentId: 'x' },
    ],
  })
  const positions = Object.fromEntries(written.map(({ id, position }) => [id, position]))
  // Only `c` and `first` among the children of `a` have a position in the outcome.
  assert.deepEqual(positions, { x: 2, y: 3, first: 1, top: 6, b: 5, alone: 0 })
})

test('the position of a new node is never above the highest one', () => {
  const { written } = accepted([node('a', null, { position: HIGHEST_POSITION })], {
    items: [{ id: 'b', title: 'B' }],
  })
  assert.equal(written[0]?.position, HIGHEST_POSITION)
})

test('parents are written before their children, and children deleted before their parents', () => {
  const { written, deleted } = accepted(chain('a', 'b', 'c', 'd'), {
    items: [
      { id: 'd', parentId: 'x' },
      { id: 'x', title: 'X', parentId: 'y' },
      { id: 'y', title: 'Y' },
    ],
    replace: true,
  })
  assert.deepEqual(
    written.map(({ id }) => id),
    ['y', 'x', 'd'],
  )
  assert.deepEqual(deleted, ['c', 'b', 'a'])
})
