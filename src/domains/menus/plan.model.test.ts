import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { chanceOf } from '../../../test/support/random.ts'
import { planOf } from '../../../test/support/menus.ts'
import type { FaultCode } from '../../kernel/errors.ts'
import { LEVEL_LIMIT, type MenuEdit, type MenuItem, type MenuNode } from './model.ts'
import type { MenuPlan } from './plan.ts'

const IDS = 'abcdefghijklmn'.split('')
const NOW = 1

type Rule =
  | 'menu_duplicate_id'
  | 'menu_two_parents'
  | 'required'
  | 'menu_unknown_parent'
  | 'menu_cycle'
  | 'menu_too_deep'
  | 'menu_too_many'

/** The model does not tell a parent that the edit deletes from one that never was. */
function ruleOf(code: FaultCode): Rule {
  return code === 'menu_deleted_parent' ? 'menu_unknown_parent' : (code as Rule)
}

/** An item of the edit where the model has found it. */
interface ModelItem {
  readonly item: MenuItem
  readonly path: string
  readonly parent: string | undefined
}

/** The rules of an edit, written again without regard to their cost. */
class Model {
  readonly items: readonly ModelItem[]
  readonly before: ReadonlyMap<string, MenuNode>
  readonly parents = new Map<string, string | null>()

  constructor(nodes: readonly MenuNode[], edit: MenuEdit) {
    this.items = allItems(edit.items, 'items', undefined)
    this.before = new Map(nodes.map((node) => [node.id, node]))
    if (!edit.replace) for (const { id, parentId } of nodes) this.parents.set(id, parentId)
    for (const { item, parent } of this.items) {
      const known = this.before.get(item.id)?.parentId ?? null
      this.parents.set(item.id, parent ?? (item.parentId === undefined ? known : item.parentId))
    }
  }

  /** The first broken rule. */
  fault(): Rule | undefined {
    const ids = this.items.map(({ item }) => item.id)
    if (new Set(ids).size < ids.length) return 'menu_duplicate_id'
    if (this.items.some((each) => this.#hasTwoParents(each))) return 'menu_two_parents'
    if (this.items.some((each) => this.#isUntitled(each))) return 'required'
    const nodes = [...this.parents.keys()]
    if (nodes.some((id) => this.#isOrphan(id))) return 'menu_unknown_parent'
    if (nodes.some((id) => this.#above(id).includes(id))) return 'menu_cycle'
    return nodes.some((id) => this.#isTooDeep(id)) ? 'menu_too_deep' : undefined
  }

  /** Whether the item may be blamed for that fault. */
  isAtFault(fault: Rule, each: ModelItem): boolean {
    const { id } = each.item
    switch (fault) {
      case 'menu_duplicate_id':
        return this.items.findIndex(({ item }) => item.id === id) < this.items.indexOf(each)
      case 'menu_two_parents':
        return this.#hasTwoParents(each)
      case 'required':
        return this.#isUntitled(each)
      case 'menu_unknown_parent':
        return this.#isOrphan(id)
      case 'menu_cycle':
        return this.#above(id).includes(id)
      case 'menu_too_deep':
        return this.#isPlacedAnew(id) && this.#withBelow(id).some((below) => this.#isTooDeep(below))
      case 'menu_too_many':
        return false
    }
  }

  #hasTwoParents({ item, parent }: ModelItem): boolean {
    return parent !== undefined && item.parentId !== undefined && item.parentId !== parent
  }

  #isUntitled({ item }: ModelItem): boolean {
    return item.title === undefined && !this.before.has(item.id)
  }

  #isOrphan(id: string): boolean {
    const parent = this.parents.get(id) ?? null
    return parent !== null && !this.parents.has(parent)
  }

  #isPlacedAnew(id: string): boolean {
    const known = this.before.get(id)
    return !known || known.parentId !== this.parents.get(id)
  }

  #isTooDeep(id: string): boolean {
    return this.#above(id).length >= LEVEL_LIMIT
  }

  #withBelow(id: string): string[] {
    return [...this.parents.keys()].filter((each) => each === id || this.#above(each).includes(id))
  }

  /** The parents of a node up to the top; on a cycle, so many that each one is there. */
  #above(id: string): string[] {
    const above: string[] = []
    for (let at = this.parents.get(id) ?? null; at !== null; at = this.parents.get(at) ?? null) {
      above.push(at)
      if (above.length > IDS.length) break
    }
    return above
  }
}

function allItems(items: readonly MenuItem[], path: string, parent: string | undefined): ModelItem[] {
  return items.flatMap((item, index) => [
    { item, path: `${path}.${index}`, parent },
    ...allItems(item.children ?? [], `${path}.${index}.children`, item.id),
  ])
}

/** The tree behind an accepted edit. */
function applied(nodes: readonly MenuNode[], { written, deleted }: MenuPlan): MenuNode[] {
  const after = new Map(nodes.map((node) => [node.id, node]))
  for (const node of written) after.set(node.id, node)
  for (const id of deleted) after.delete(id)
  return [...after.values()]
}

function assertOutcome(nodes: readonly MenuNode[], edit: MenuEdit, plan: MenuPlan, model: Model): void {
  const after = applied(nodes, plan)
  assert.deepEqual(new Map(after.map(({ id, parentId }) => [id, parentId])), model.parents)
  const { created, updated, moved, unchanged, deleted } = plan.outcome
  const named = model.items.map(({ item }) => item.id)
  assert.deepEqual(new Set([...created, ...updated, ...moved, ...unchanged]), new Set(named))
  for (const id of named) {
    const known = model.before.get(id)
    const node = after.find((each) => each.id === id) ?? assert.fail(id)
    const { item } = model.items.find((each) => each.item.id === id) ?? assert.fail(id)
    for (const name of ['title', 'path', 'position', 'enabled'] as const)
      if (item[name] !== undefined || known) assert.equal(node[name], item[name] ?? known?.[name])
    assert.equal(created.includes(id), !known)
    assert.equal(moved.includes(id), known !== undefined && known.parentId !== node.parentId)
    assert.equal(unchanged.includes(id), known === node)
  }
  assert.deepEqual(
    new Set(deleted),
    new Set(edit.replace ? [...model.before.keys()].filter((id) => !named.includes(id)) : []),
  )
  assertWritable(nodes, plan)
}

/** Each row can be written and deleted in that order: its parent is there, and nothing is left below it. */
function assertWritable(nodes: readonly MenuNode[], { written, deleted }: MenuPlan): void {
  const rows = new Map(nodes.map(({ id, parentId }) => [id, parentId]))
  for (const { id, parentId } of written) {
    assert.ok(parentId === null || rows.has(parentId), `${id} before its parent`)
    rows.set(id, parentId)
  }
  for (const id of deleted) {
    assert.ok(![...rows.values()].includes(id), `${id} before its children`)
    rows.delete(id)
  }
}

/** Where an item says that its node is. `previous` is the item before it, so that long ways to the top are frequent. */
const PLACES = ['previous', 'nested', 'left out', 'top', 'other', 'unknown'] as const

interface ItemPlan {
  readonly fields: Pick<MenuItem, 'title' | 'path' | 'position' | 'enabled'>
  readonly place: (typeof PLACES)[number]
  readonly other: string
  /** A nested item may also have a `parent_id`. */
  readonly namesParent: boolean
}

const rarely = fc.integer({ min: 0, max: 15 }).map((each) => each === 0)

const anItemPlan: fc.Arbitrary<ItemPlan> = fc.record({
  fields: fc
    .record({
      title: fc.option(fc.constantFrom('one', 'two'), { nil: undefined, freq: 40 }),
      path: fc.option(fc.constantFrom('/a', '/b'), { nil: undefined }),
      position: fc.option(fc.nat({ max: 3 }), { nil: undefined }),
      enabled: fc.option(fc.boolean(), { nil: undefined }),
    })
    .map((fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))),
  place: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom('previous', 'nested') },
    { weight: 3, arbitrary: fc.constantFrom('left out', 'top', 'other') },
    { weight: 1, arbitrary: fc.constantFrom(...PLACES) },
  ),
  other: fc.constantFrom(...IDS),
  namesParent: rarely,
})

interface OpenItem extends MenuItem {
  readonly children: OpenItem[]
}

/** The items, some nested in the one before them. */
function builtItems(ids: readonly string[], plans: readonly ItemPlan[]): MenuItem[] {
  const items: OpenItem[] = []
  let previous: OpenItem | undefined
  for (const [index, { fields, place, other, namesParent }] of plans.entries()) {
    const id = ids[index] ?? other
    const parentId = { previous: previous?.id ?? null, top: null, other, unknown: 'unknown' }
    const isNested = place === 'nested' && previous !== undefined
    const named = isNested && namesParent ? { parentId: other } : {}
    const item = {
      id,
      ...fields,
      ...(place in parentId ? { parentId: parentId[place as 'top'] } : named),
      children: [],
    }
    ;(isNested ? (previous?.children ?? items) : items).push(item)
    previous = item
  }
  return items
}

const anEdit: fc.Arbitrary<MenuEdit> = fc
  .record({
    ids: fc.shuffledSubarray(IDS),
    plans: fc.array(anItemPlan, { maxLength: 12 }),
    repeats: rarely,
    replace: rarely,
  })
  .map(({ ids, plans, repeats, replace }) => ({
    items: builtItems(repeats ? ids.slice(0, 1) : ids, repeats ? plans : plans.slice(0, ids.length)),
    replace,
  }))

test('the plan of an edit agrees with a naive model, edit after edit', (t: TestContext) => {
  const seen = new Map<string, number>()
  fc.assert(
    fc.property(fc.array(anEdit, { minLength: 1, maxLength: 12 }), (edits) => {
      let nodes: MenuNode[] = []
      for (const edit of edits) {
        const model = new Model(nodes, edit)
        const plan = planOf(nodes, edit, NOW)
        const fault = 'code' in plan ? ruleOf(plan.code) : undefined
        seen.set(fault ?? 'accepted', (seen.get(fault ?? 'accepted') ?? 0) + 1)
        assert.equal(fault, model.fault())
        if ('code' in plan) {
          const path = plan.path.replace(/\.title$/, '')
          const blamed = model.items.find((each) => each.path === path) ?? assert.fail(path)
          assert.ok(model.isAtFault(ruleOf(plan.code), blamed), `${plan.code} at ${plan.path}`)
        } else {
          assertOutcome(nodes, edit, plan, model)
          nodes = applied(nodes, plan)
        }
      }
    }),
    { seed: chanceOf(t).seed, numRuns: 1_000 },
  )
  t.diagnostic(JSON.stringify(Object.fromEntries(seen)))
  for (const kind of [
    'accepted',
    'menu_cycle',
    'menu_two_parents',
    'menu_duplicate_id',
    'menu_too_deep',
    'menu_unknown_parent',
  ])
    assert.ok((seen.get(kind) ?? 0) > 0, kind)
})

test('an accepted edit, sent again, changes nothing', (t: TestContext) => {
  fc.assert(
    fc.property(anEdit, (edit) => {
      const plan = planOf([], edit, NOW)
      if ('code' in plan) return
      const again = planOf(applied([], plan), edit, NOW + 1)
      assert.ok(!('code' in again))
      assert.deepEqual([again.written, again.deleted], [[], []])
      assert.deepEqual(again.outcome.unchanged, plan.outcome.created)
    }),
    { seed: chanceOf(t).seed, numRuns: 500 },
  )
})
