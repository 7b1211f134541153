import type { Queries, Tx } from '../../store/store.ts'
import type { CommandParts } from './parts.ts'
import { LeaseWatch } from './lease-watch.ts'
import { isFinal, type ExecutionStatus, type ExecutionView } from './model.ts'
import {
  countUnfinished,
  deleteFinished,
  endWaiting,
  findExecution,
  listExpired,
  listLeases,
  listUnstarted,
  markIncomplete,
  readProgress,
} from './store.ts'

const ACTOR = 'platform'

/** Ends requests that were not decided in time, and the runs of dead workers with their processes. */
export class CommandUpkeep {
  readonly #deps: CommandParts
  readonly #leases: LeaseWatch

  constructor(deps: CommandParts) {
    this.#deps = deps
    this.#leases = new LeaseWatch(deps.clock)
  }

  /** Ends the runs whose worker has died, as incomplete: they are not repeated. Returns how many. */
  async endAbandoned(): Promise<number> {
    const { store, clock } = this.#deps
    const abandoned = this.#leases.findAbandoned(await listLeases(store.read))
    return this.#endEach(abandoned, (tx, lease) => markIncomplete(tx, lease, clock.now()))
  }

  /** Ends one batch of the requests that have waited too long for an approval. Returns how many. */
  async endExpired(limit: number): Promise<number> {
    const { store, clock } = this.#deps
    const now = clock.now()
    const end = { status: 'expired', statusReason: null, cancelledBy: null, finishedAt: now } as const
    return this.#endEach(await listExpired(store.read, now, limit), (tx, { id }) =>
      endWaiting(tx, 'awaiting_approval', { ...end, id }),
    )
  }

  /** Ends one batch of the executions that no worker has begun in time. Returns how many. */
  async endOverdue(limit: number): Promise<number> {
    const { store, rules } = this.#deps
    const { before, after } = rules.queueLimits
    const overdue = await listUnstarted(store.read, before, after, limit)
    const ended = overdue.map(({ id }) =>
      store.write((tx) => rules.end(tx, { id, status: 'queued' }, 'not_started')),
    )
    return (await Promise.all(ended)).filter(Boolean).length
  }

  /** Kills processes on this host whose execution is over. In a namespace there are none: they end with their worker. */
  async killLeftovers(): Promise<void> {
    const { programs, store, catalogue } = this.#deps
    if (!catalogue.hasPrograms || (await programs.containment()) !== 'process_scan') return
    for (const id of programs.executionsWithProcesses()) {
      // An unknown execution may belong to another platform on this host.
      const progress = await readProgress(store.read, id)
      if (progress && isFinal(progress.status)) await programs.killProcessesOf(id)
    }
  }

  /** How many executions of each unfinished status there are. */
  countUnfinished(): Promise<{ status: ExecutionStatus; executions: number }[]> {
    const { store } = this.#deps
    return store.readAside(countUnfinished(store.read))
  }

  /** Deletes one batch of executions that had finished before that time; returns how many. */
  prune(before: number, limit: number): Promise<number> {
    const { store, journal } = this.#deps
    return store.write(async (tx) => {
      const deleted = await deleteFinished(tx, before, limit)
      for (const execution of deleted)
        await journal.recoverAlert(tx, execution, 'The execution was removed: it is too old.')
      return deleted.length
    })
  }

  async #endEach<Item extends { readonly id: string }>(
    items: readonly Item[],
    end: (tx: Tx, item: Item) => Promise<boolean>,
  ): Promise<number> {
    const { store, journal } = this.#deps
    let ended = 0
    for (const item of items) {
      const isEnded = await store.write(async (tx) => {
        if (!(await end(tx, item))) return false
        await journal.recordEnd(tx, await requireFinished(tx, item.id), ACTOR)
        return true
      })
      if (isEnded) ended++
    }
    return ended
  }
}

/** An execution that the same transaction has changed. */
export async function requireFinished(queries: Queries, id: string): Promise<ExecutionView> {
  const execution = await findExecution(queries, id)
  if (!execution) throw new Error(`The execution ${id} has disappeared.`)
  return execution
}
