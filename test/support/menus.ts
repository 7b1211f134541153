import { Menus, type MenuEventData, type MenuNode } from '../../src/domains/menus/index.ts'
import { placeEdit } from '../../src/domains/menus/items.ts'
import type { MenuEdit } from '../../src/domains/menus/model.ts'
import { planEdit, type MenuPlan } from '../../src/domains/menus/plan.ts'
import type { ErrorDetail } from '../../src/kernel/errors.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import type { Tx } from '../../src/store/store.ts'
import { domainWorld, type domainParts } from './domain-world.ts'
import { inTransactions } from './store.ts'

/** The nodes that the migration creates. */
export const SHOP_IDS = [
  'shop-home',
  'shop-categories',
  'shop-products',
  'shop-cart',
  'shop-orders',
  'shop-account',
]

function menusOf({ deps }: ReturnType<typeof domainParts<MenuEventData>>) {
  const service = new Menus(deps)
  const edit = (tx: Tx, change: MenuEdit, actor: string, revisions?: readonly number[]) =>
    service.edit(tx, placeEdit(change), actor, revisions)
  const remove: Menus['remove'] = (...args) => service.remove(...args)
  return { service, menus: inTransactions(deps.store, { edit, remove }, 'edit', 'remove') }
}

/** The menus of a new database. */
export function menuWorld(dialect: DialectName) {
  return domainWorld(dialect, menusOf)
}

/** What an edit does, in one go. */
export function planOf(nodes: readonly MenuNode[], edit: MenuEdit, at: number): MenuPlan | ErrorDetail {
  const steps = planEdit(nodes, placeEdit(edit), at)
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value
}

/** The parent of each node. */
export function parentsOf(nodes: readonly MenuNode[]): Record<string, string | null> {
  return Object.fromEntries(nodes.map(({ id, parentId }) => [id, parentId]))
}
