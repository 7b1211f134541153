import type { Clock } from '../../kernel/clock.ts'
import {
  AppError,
  notFound,
  requireVersion,
  validationFailed,
  type ErrorDetail,
} from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Counter, Metrics } from '../../kernel/metrics.ts'
import type { EventSink } from '../../ports/events.ts'
import { type Queries, type Store, type Tx, inTurns } from '../../store/store.ts'
import {
  menuEventData,
  MENU_EVENTS,
  TREE_ID,
  type MenuEventData,
  type MenuChange,
  type MenuOutcome,
  type MenuTree,
} from './model.ts'
import type { PlacedEdit } from './items.ts'
import { planEdit } from './plan.ts'
import {
  deleteNodes,
  hasChildren,
  hasNode,
  lockRevision,
  readNodes,
  readTree,
  updateRevision,
  writeNodes,
} from './store.ts'

/** What the menu domain needs of the rest of the platform. */
export interface MenuDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly events: EventSink<MenuEventData>
}

const COUNTED = ['created', 'updated', 'moved', 'deleted'] as const
const NOTHING: MenuOutcome = { created: [], updated: [], moved: [], unchanged: [], deleted: [] }

/** The tree of the shop's menus. */
export class Menus {
  readonly #deps: MenuDeps
  readonly #changes: Counter

  constructor(deps: MenuDeps) {
    this.#deps = deps
    this.#changes = deps.metrics.counter({
      name: 'menu_changes_total',
      help: 'Nodes of the menus that were changed, by kind of change.',
      labels: ['change'],
    })
    for (const change of COUNTED) this.#changes.increment({ change }, 0)
  }

  /** All nodes, with the revision of the tree. */
  read(queries: Queries = this.#deps.store.read): Promise<MenuTree> {
    return readTree(queries)
  }

  /**
   * Changes the tree; without any change it keeps its revision and emits no event. Rejects with `validation_failed` or
   * `menu_cycle` for an edit that leads to no tree, and with `precondition_failed` if the tree has none of the
   * `expectedRevisions`.
   */
  async edit(
    tx: Tx,
    edit: PlacedEdit,
    actor: string,
    expectedRevisions?: readonly number[],
  ): Promise<MenuChange> {
    const revision = await lockRevision(tx)
    requireRevision(revision, expectedRevisions)
    const nodes = await readNodes(tx)
    const at = this.#deps.clock.now()
    const plan = await inTurns(tx, planEdit(nodes, edit, at))
    if ('code' in plan) throw refusalError(plan)
    if (!isChange(plan.outcome)) return { revision, ...plan.outcome }
    const change = { revision: revision + 1, ...plan.outcome }
    if (edit.dryRun) return change
    await writeNodes(tx, plan.written)
    await deleteNodes(tx, plan.deleted)
    await this.#record(tx, change, { actor, at })
    return change
  }

  /**
   * Deletes a node. Rejects with `menu_not_found`, with `menu_has_children`, and with `precondition_failed` if the tree has
   * none of the `expectedRevisions`.
   */
  async remove(tx: Tx, id: string, actor: string, expectedRevisions?: readonly number[]): Promise<void> {
    const revision = await lockRevision(tx)
    if (!(await hasNode(tx, id))) throw notFound('menu', id)
    requireRevision(revision, expectedRevisions)
    if (await hasChildren(tx, id)) throw menuHasChildren(id)
    await deleteNodes(tx, [id])
    const at = this.#deps.clock.now()
    await this.#record(tx, { ...NOTHING, revision: revision + 1, deleted: [id] }, { actor, at })
  }

  /** Writes the revision and the event of a change in its transaction, and counts it after the commit. */
  async #record(tx: Tx, change: MenuChange, { actor, at }: { actor: string; at: number }): Promise<void> {
    const { revision } = change
    await updateRevision(tx, { revision, changedBy: actor, changedAt: at })
    await this.#deps.events.append(tx, {
      type: MENU_EVENTS.changed,
      subject: TREE_ID,
      data: menuEventData(change),
    })
    tx.afterCommit(() => {
      const counts = COUNTED.map((kind) => [kind, change[kind].length] as const)
      for (const [kind, count] of counts) this.#changes.increment({ change: kind }, count)
      this.#deps.logger.info({ revision, ...Object.fromEntries(counts), actor }, 'menus changed')
    })
  }
}

function isChange(outcome: MenuOutcome): boolean {
  return COUNTED.some((kind) => outcome[kind].length > 0)
}

function requireRevision(revision: number, expected: readonly number[] | undefined): void {
  requireVersion(revision, expected, 'tree of menus')
}

function refusalError(detail: ErrorDetail): AppError {
  if (detail.code !== 'menu_cycle') return validationFailed([detail])
  return new AppError('invalid', 'menu_cycle', `${detail.path} ${detail.message}.`, { details: [detail] })
}

function menuHasChildren(id: string): AppError {
  return new AppError(
    'conflict',
    'menu_has_children',
    `The menu ${JSON.stringify(id)} has children; delete or move them first.`,
  )
}
