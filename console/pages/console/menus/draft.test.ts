import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changedIds, editOf, namedChanges, rebase, withNode, withoutBranch } from './draft.ts'
import { moveNode, placeAfter, rowsOf, titlesTo, type MenuMove, type MenuNodes } from './tree.ts'

const node = (id: string, parent_id: string | null, position: number) => {
  return { id, title: id.toUpperCase(), parent_id, path: null, icon: null, position, enabled: true }
}

const TREE = [node('c', null, 30), node('a', null, 10), node('b', null, 20), node('b1', 'b', 10)]

const shown = (nodes: MenuNodes) =>
  rowsOf(nodes)
    .map(({ node: { id }, level }) => `${level}${id}`)
    .join(' ')

test('the lines of the tree are in order, each parent before its children', () => {
  assert.equal(shown(TREE), '1a 1b 2b1 1c')
  assert.deepEqual(titlesTo(TREE, 'b1'), ['B', 'B1'])
})

const MOVES: readonly (readonly [id: string, move: MenuMove, expected: string | null])[] = [
  ['b', 'up', '1b 2b1 1a 1c'],
  ['b', 'down', '1a 1c 1b 2b1'],
  ['c', 'in', '1a 1b 2b1 2c'],
  ['b1', 'out', '1a 1b 1b1 1c'],
  ['a', 'up', null],
  ['c', 'down', null],
  ['a', 'in', null],
  ['a', 'out', null],
  ['unknown', 'up', null],
]

for (const [id, move, expected] of MOVES) {
  test(`${id} moved ${move}: ${expected ?? 'not possible'}`, () => {
    const place = placeAfter(TREE, id, move)
    assert.equal(place && shown(moveNode(TREE, id, place)), expected)
  })
}

test('a move changes no position without need, and the move back restores all of them', () => {
  const positions = (nodes: MenuNodes) => nodes.map(({ id, position }) => `${id} ${position}`).join()
  const up = moveNode(TREE, 'b', { parent_id: null, index: 0 })
  assert.equal(positions(up), 'c 30,a 20,b 10,b1 10')
  assert.deepEqual(moveNode(up, 'b', { parent_id: null, index: 1 }), TREE)
  assert.equal(positions(moveNode(TREE, 'b1', { parent_id: null, index: 2 })), 'c 30,a 10,b 20,b1 21')
  const dense = [node('a', null, 0), node('b', null, 0), node('c', null, 2), node('d', 'c', 0)]
  assert.equal(positions(moveNode(dense, 'd', { parent_id: null, index: 0 })), 'a 1,b 2,c 3,d 0')
})

test('a review names what was moved and edited, not the siblings that make room', () => {
  const moved = moveNode(TREE, 'b', { parent_id: null, index: 0 })
  const nodes = moved.map((each) => (each.id === 'c' ? { ...each, title: 'New' } : each))
  const outcome = { created: [], updated: ['a', 'b', 'c'], moved: ['b1'], deleted: [] }
  assert.deepEqual(namedChanges(outcome, { base: TREE, nodes, moved: new Set(['b', 'b1']) }), {
    created: [],
    updated: ['c'],
    moved: ['b1', 'b'],
    deleted: [],
  })
})

test('a node cannot be moved below itself', () => {
  assert.equal(moveNode(TREE, 'b', { parent_id: 'b1', index: 0 }), TREE)
})

test('a node cannot be moved below the last level', () => {
  const deep = Array.from({ length: 7 }, (_, level) =>
    node(`d${level}`, level === 0 ? null : `d${level - 1}`, 0),
  )
  const nodes = [...deep, node('x', null, 10), node('x1', 'x', 0)]
  assert.equal(moveNode(nodes, 'x', { parent_id: 'd6', index: 0 }), nodes)
  assert.notEqual(moveNode(nodes, 'x', { parent_id: 'd5', index: 0 }), nodes)
  assert.notEqual(moveNode(nodes, 'x1', { parent_id: 'd6', index: 0 }), nodes)
  const beside = [...deep, node('y', 'd0', 1), node('z', 'd0', 2), node('e', 'd6', 0)]
  assert.deepEqual(placeAfter(beside, 'z', 'in'), { parent_id: 'y', index: 0 })
  assert.equal(placeAfter([...beside, node('e1', 'd6', 1), node('e2', 'e1', 0)], 'e1', 'in'), null)
})

test('an edit has only what differs; one that deletes names every other node', () => {
  const renamed = TREE.map((each) => (each.id === 'a' ? { ...each, title: 'New' } : each))
  assert.deepEqual(editOf(TREE, renamed), { items: [{ id: 'a', title: 'New' }] })
  assert.deepEqual(changedIds(TREE, renamed), ['a'])
  const without = withoutBranch(TREE, 'b')
  assert.deepEqual(editOf(TREE, without), { items: [{ id: 'c' }, { id: 'a' }], replace: true })
  assert.deepEqual(changedIds(TREE, without), ['b', 'b1'])
})

test('a draft on a newer tree keeps the changes of others', () => {
  const mine = withNode(withoutBranch(TREE, 'b'), { ...node('d', null, 0), title: 'Mine' })
  const renamed = mine.map((each) => (each.id === 'a' ? { ...each, title: 'Mine, too' } : each))
  const theirs = [
    ...TREE.map((each) => (each.id === 'a' ? { ...each, path: '/a' } : each)),
    node('e', null, 40),
  ]
  const result = rebase(TREE, renamed, theirs)
  assert.deepEqual(result.map(({ id }) => id).toSorted(), ['a', 'c', 'd', 'e'])
  const a = result.find(({ id }) => id === 'a')
  assert.deepEqual([a?.title, a?.path], ['Mine, too', '/a'])
})

test('a node whose new parent is gone stays where it is now', () => {
  const mine = moveNode(TREE, 'c', { parent_id: 'b', index: 0 })
  assert.equal(shown(rebase(TREE, mine, withoutBranch(TREE, 'b'))), '1a 1c')
})

test('a node that others add below a removed one is kept at the top', () => {
  const theirs = withNode(TREE, { ...node('d', 'b', 0), title: 'Theirs' })
  assert.equal(
    shown(rebase(TREE, withoutBranch(TREE, 'b'), theirs))
      .split(' ')
      .toSorted()
      .join(),
    '1a,1c,1d',
  )
})

test('two moves that would make a circle leave the node of the draft in its place', () => {
  const mine = moveNode(TREE, 'a', { parent_id: 'c', index: 0 })
  const theirs = moveNode(TREE, 'c', { parent_id: 'a', index: 0 })
  assert.equal(shown(rebase(TREE, mine, theirs)), '1a 2c 1b 2b1')
})
