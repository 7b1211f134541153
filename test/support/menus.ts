import { Menus, type MenuEventData, type MenuNode } from '../../src/domains/menus/index.ts'
import { placeEdit } from '../../src/domains/menus/items.ts'
import type { MenuEdit } from '../../src/domains/menus/model.ts'
import { planEdit, type MenuPlan } from '../../src/domains/menus/plan.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import type { ErrorDetail } from '../../src/kernel/errors.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import type { DomainEvent } from '../../src/ports/events.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import type { Store, Tx } from '../../src/store/store.ts'
import { fakeClock } from './clock.ts'
import { inTransactions, testStores } from './store.ts'

/** The nodes that the migration creates. */
export const SHOP_IDS = [
  'shop-home',
  'shop-categories',
  'shop-products',
  'shop-cart',
  'shop-orders',
  'shop-account',
]

/** The menus of one process, and the events that it has committed. */
function menusOf(store: Store, clock: Clock) {
  const events: DomainEvent<MenuEventData>[] = []
  const service = new Menus({
    store,
    clock,
    logger: silentLogger,
    metrics: noMetrics,
    events: { append: async (tx, event) => tx.afterCommit(() => events.push(event)) },
  })
  const edit = (tx: Tx, given: MenuEdit, actor: string, revisions?: readonly number[]) =>
    service.edit(tx, placeEdit(given), actor, revisions)
  const remove: Menus['remove'] = (...given) => service.remove(...given)
  return { service, events, menus: inTransactions(store, { edit, remove }, 'edit', 'remove') }
}

/** The menus of a new database; `another` are those of another store on the same one. */
export async function menuWorld(dialect: DialectName) {
  const clock = fakeClock()
  const stores = await testStores(dialect, clock)
  const { store, otherStore } = stores
  return {
    clock,
    store,
    ...menusOf(store, clock),
    another: { store: otherStore, ...menusOf(otherStore, clock) },
    [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
  }
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
