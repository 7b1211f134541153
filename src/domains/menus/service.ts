import {
  AppError,
  requireFound,
  requireVersion,
  validationFailed,
  type ErrorDetail,
} from '../../kernel/errors.ts'
import type { Counter } from '../../kernel/metrics.ts'
import type { EventSink } from '../../ports/events.ts'
import { inTurns, type Queries, type ServiceDeps, type Tx } from '../../store/store.ts'
import type { PlacedEdit } from './items.ts'
import {
  MENU_EVENTS,
  menuEventData,
  TREE_ID,
  type MenuChange,
  type MenuEventData,
  type MenuOutcome,
  type MenuTree,
} from './model.ts'
import { planEdit } from './plan.ts'
import {
  deleteNodes,
  findChild,
  findNode,
  lockRevision,
  readNodes,
  readTree,
  updateRevision,
  writeNodes,
} from './store.ts'

/** What the menu domain needs of the rest of the platform. */
export interface MenuDeps extends ServiceDeps {
  readonly events: EventSink<MenuEventData>
}

const COUNTED = ['created', 'updated', 'moved', 'deleted'] as const
const TREE_WORDS = 'tree of menus'
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
      labels: { change: COUNTED },
    })
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
    requireVersion(revision, expectedRevisions, TREE_WORDS)
    const nodes = await readNodes(tx)
    const at = this.#deps.clock.now()
    const plan = await inTurns(tx, planEdit(nodes, edit, at))
    if ('code' in plan) throw refusalError(plan)
    if (!isChange(plan.outcome)) return { revision, ...plan.outcome }
    const change = { revision: revision + 1, ...plan.outcome }
    if (edit.dryRun) return change
    await writeNodes(tx, plan.written)
    await deleteNodes(tx, plan.deleted)
    await this.#record(tx, change, actor, at)
    return change
  }

  /**
   * Deletes a node. Rejects with `menu_not_found`, with `menu_has_children`, and with `precondition_failed` if the tree has
   * none of the `expectedRevisions`.
   */
  async remove(tx: Tx, id: string, actor: string, expectedRevisions?: readonly number[]): Promise<void> {
    const revision = await lockRevision(tx)
    requireFound(await findNode(tx, id), 'menu', id)
    requireVersion(revision, expectedRevisions, TREE_WORDS)
    if (await findChild(tx, id)) throw menuHasChildren(id)
    await deleteNodes(tx, [id])
    const change = { ...NOTHING, revision: revision + 1, deleted: [id] }
    await this.#record(tx, change, actor, this.#deps.clock.now())
  }

  /** Writes the revision and the event of a change in its transaction, and counts it after the commit. */
  async #record(tx: Tx, change: MenuChange, actor: string, at: number): Promise<void> {
    const { revision } = change
    await updateRevision(tx, { revision, changedBy: actor, changedAt: at })
    const data = menuEventData(change)
    await this.#deps.events.append(tx, { type: MENU_EVENTS.changed, subject: TREE_ID, data })
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
