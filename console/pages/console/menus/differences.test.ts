import assert from 'node:assert/strict'
import { test } from 'node:test'
import { differencesOf } from './differences.ts'
import { withNode, withoutBranch } from './draft.ts'
import { moveNode, type MenuNode, type MenuNodes } from './tree.ts'

const node = (id: string, parent_id: string | null, position: number) => {
  return { id, title: id.toUpperCase(), parent_id, path: null, icon: null, position, enabled: true }
}

const TREE: MenuNodes = [node('a', null, 10), node('b', null, 20), node('b1', 'b', 10), node('c', null, 30)]

const edited = (nodes: MenuNodes, id: string, fields: Partial<MenuNode>) =>
  nodes.map((each) => (each.id === id ? { ...each, ...fields } : each))

/** `!` marks what both changed. */
function shown(nodes: MenuNodes, current: MenuNodes, moved: readonly string[] = []): string {
  return differencesOf({ base: TREE, etag: null, nodes, moved: new Set(moved) }, current)
    .map(({ id, aspect, isChangedByBoth }) => `${id} ${aspect}${isChangedByBoth ? '!' : ''}`)
    .join(', ')
}

test('the changes of others are no changes of the draft', () => {
  const mine = edited(TREE, 'a', { title: 'Mine' })
  const theirs = withNode(edited(withoutBranch(TREE, 'c'), 'b', { title: 'Theirs' }), node('d', null, 0))
  assert.equal(shown(mine, theirs), 'a title')
  assert.equal(shown(TREE, theirs), '')
})

test('what both changed is marked, field by field; the same change is no difference', () => {
  const mine = edited(TREE, 'a', { title: 'Mine', path: '/mine', enabled: false })
  const theirs = edited(TREE, 'a', { title: 'Theirs', icon: 'star', enabled: false })
  assert.equal(shown(mine, theirs), 'a title!, a path')
})

test('a moved node is named, not the siblings that make room', () => {
  const mine = moveNode(TREE, 'c', { parent_id: null, index: 0 })
  assert.equal(shown(mine, edited(TREE, 'b', { title: 'Theirs' }), ['c']), 'c place')
  const theirs = moveNode(TREE, 'c', { parent_id: 'b', index: 0 })
  assert.equal(shown(mine, theirs, ['c']), 'c place!')
  assert.equal(shown(mine, withoutBranch(TREE, 'b'), ['c']), 'c place')
})

test('a node that only one version has is a difference as a whole', () => {
  assert.equal(shown(withNode(TREE, node('d', null, 0)), TREE), 'd node')
  assert.equal(shown(withNode(TREE, node('d', null, 0)), withNode(TREE, node('d', 'a', 0))), 'd node!')
  assert.equal(shown(withoutBranch(TREE, 'b'), edited(TREE, 'b1', { title: 'New' })), 'b node, b1 node!')
  assert.equal(shown(withoutBranch(TREE, 'b'), withoutBranch(TREE, 'b')), '')
  assert.equal(shown(edited(TREE, 'c', { title: 'Mine' }), withoutBranch(TREE, 'c')), 'c node!')
})
