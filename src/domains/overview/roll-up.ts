import type { EventLog } from '../../ports/events.ts'
import type { ServiceDeps, Tx } from '../../store/store.ts'
import {
  changeOf,
  countOrders,
  countsBefore,
  countSteps,
  firstStep,
  KEEP_MS,
  seriesOf,
  STEP_MS,
  stepOf,
  type CountedChange,
  type OrderCounts,
  type OrderSubjects,
  type Step,
} from './model.ts'
import {
  addToStep,
  deleteStepsAfter,
  deleteStepsBefore,
  findStepBehindNewest,
  lockOrderCounts,
  readOrderCounts,
  readSteps,
  recordSample,
  updateOrderCounts,
  type Sample,
  type StoredCounts,
} from './store.ts'

/** What the roll-up needs of the rest of the platform. */
export interface RollUpDeps extends Pick<ServiceDeps, 'store' | 'clock'> {
  /** The log that has the events of orders. */
  readonly log: EventLog
  readonly subjects: OrderSubjects
  /** Counts all orders, archived ones too. Takes long where there are many. */
  readonly countAllOrders: () => Promise<OrderCounts>
  /** As `countAllOrders`; `numbers` are the places of the events after `after` whose changes the counts have. */
  readonly countAllOrdersWith: (
    after: number,
  ) => Promise<{ counts: OrderCounts; numbers: ReadonlySet<number> }>
  readonly sample: () => Promise<Sample>
}

// A transaction of this many events takes a few milliseconds.
const FOLD_BATCH = 500
// A request counts at most this many new events itself; a running worker is rarely so far behind.
const PENDING_LIMIT = 10_000
const PENDING_PAGE = 1_000
// How many newer steps, or steps in a row, show that the clock is right: one hour of them.
const TRUSTED_STEPS = 12

/** The changes that are not part of the stored counts yet. */
interface PendingChanges {
  readonly changes: readonly CountedChange[]
  /** `false` when events were removed, or when there are too many. */
  readonly isComplete: boolean
}

/**
 * Counts of orders, and the series of the last 31 days. They are kept from the events of orders, so that neither a reader
 * nor the worker reads the orders themselves. A reader adds the events that are not counted yet.
 */
export class RollUp {
  readonly #deps: RollUpDeps
  #sampledStep: number | undefined
  /** How many steps in a row this process has seen. */
  #stepsInRow = 0

  constructor(deps: RollUpDeps) {
    this.#deps = deps
  }

  /** How many orders of each status there are now. */
  async orders(): Promise<OrderCounts> {
    const { store, countAllOrders } = this.#deps
    const { place, ...counts } = await readOrderCounts(store.read)
    const { changes, isComplete } = await this.#readPending(place)
    // If no worker has run for a long time, the orders themselves are counted.
    return isComplete ? countOrders(counts, changes) : countAllOrders()
  }

  /** The steps of the last hours, oldest first; the last one is in progress. */
  async series(hours: number): Promise<readonly Step[]> {
    const { store, clock } = this.#deps
    const now = clock.now()
    const range = { from: firstStep(now, hours), to: stepOf(now) }
    const { place, stored } = await readSteps(store.read, range.from, range.to)
    const { changes } = await this.#readPending(place)
    return seriesOf(range, stored, changes)
  }

  /** Counts one batch of events; returns whether there may be more. Of two processes, one counts an event. */
  async fold(): Promise<boolean> {
    const { store, log } = this.#deps
    const { place } = await readOrderCounts(store.read)
    const { events, through } = await log.readAfter(place, FOLD_BATCH)
    // Checked after the reading: events may have been removed meanwhile.
    if ((await log.removedUpTo()) > place) return this.#recount(place)
    if (through === place) return false
    const changes = events.flatMap((event) => changeOf(this.#deps.subjects, event) ?? [])
    await this.#update(place, (tx, counts) => addChanges(tx, { ...counts, place: through }, changes))
    return events.length > 0
  }

  /** Records what the series needs of this moment, once in each step. */
  async sample(): Promise<void> {
    const { store, clock, sample } = this.#deps
    const step = stepOf(clock.now())
    if (this.#sampledStep === step) return
    this.#stepsInRow = step - STEP_MS === this.#sampledStep ? this.#stepsInRow + 1 : 1
    const [known] = (await readSteps(store.read, step, step)).stored
    if (!known || known.firingAlerts === null) await this.#record(step, await sample())
    this.#sampledStep = step
  }

  /** Removes one batch of the steps that are older than 31 days; returns how many. */
  async prune(limit: number): Promise<number> {
    const { store, clock } = this.#deps
    const trusted = await findStepBehindNewest(store.read, TRUSTED_STEPS)
    if (trusted === undefined) return 0
    // A clock that is ahead for less than an hour removes nothing.
    const before = Math.min(trusted, stepOf(clock.now())) - KEEP_MS
    return store.write((tx) => deleteStepsBefore(tx, before, limit))
  }

  async #readPending(place: number): Promise<PendingChanges> {
    const { log, subjects } = this.#deps
    const changes: CountedChange[] = []
    let after = place
    let read = 0
    while (read < PENDING_LIMIT) {
      const { events, through } = await log.readAfter(after, PENDING_PAGE)
      if (events.length === 0) break
      changes.push(...events.flatMap((event) => changeOf(subjects, event) ?? []))
      after = through
      read += events.length
    }
    return { changes, isComplete: read < PENDING_LIMIT && (await log.removedUpTo()) <= place }
  }

  /**
   * Counts all orders, because events were removed before they were counted. Orders change while it counts, so it takes back
   * the changes that the count has seen and that come after its place; `fold` adds them. Returns whether there may be more to
   * do.
   */
  async #recount(place: number): Promise<boolean> {
    const { log, countAllOrdersWith } = this.#deps
    // The count sees every event up to here: none of them can become visible later.
    const begin = await log.newestPlace()
    const { counts, numbers } = await countAllOrdersWith(begin)
    const changes = await this.#changesAt(numbers, begin)
    // Checked after the reading: events may have been removed meanwhile. The next run counts again.
    if ((await log.removedUpTo()) > begin) return false
    const countsAtBegin = countsBefore(counts, changes)
    await this.#update(
      place,
      async (tx) => void (await updateOrderCounts(tx, { ...countsAtBegin, place: begin })),
    )
    return true
  }

  /** The changes of the events at these visible places, all of which come after `after`. */
  async #changesAt(places: ReadonlySet<number>, after: number): Promise<readonly CountedChange[]> {
    const { log, subjects } = this.#deps
    // A log does not answer visible events that another one may still precede.
    await log.newestPlace()
    const changes: CountedChange[] = []
    const last = [...places].reduce((highest, place) => Math.max(highest, place), after)
    for (let from = after; from < last;) {
      const { events, through } = await log.readAfter(from, PENDING_PAGE)
      if (events.length === 0) break
      const seen = events.filter((event) => places.has(event.place))
      changes.push(...seen.flatMap((event) => changeOf(subjects, event) ?? []))
      from = through
    }
    return changes
  }

  /** Changes the counts, unless another process has changed them since `place` was read. */
  async #update(place: number, change: (tx: Tx, counts: StoredCounts) => Promise<void>): Promise<void> {
    await this.#deps.store.write(async (tx) => {
      const counts = await lockOrderCounts(tx)
      if (counts.place === place) await change(tx, counts)
    })
  }

  async #record(step: number, sample: Sample): Promise<void> {
    await this.#deps.store.write(async (tx) => {
      // A clock that was ahead has written later steps. They are removed only if this clock has been right for a while,
      // because a wrong clock must not remove right steps. Another process may be a little ahead.
      if (this.#stepsInRow >= TRUSTED_STEPS) await deleteStepsAfter(tx, step + STEP_MS)
      await recordSample(tx, step, sample)
    })
  }
}

async function addChanges(tx: Tx, counts: StoredCounts, changes: readonly CountedChange[]): Promise<void> {
  const { place, ...before } = counts
  await updateOrderCounts(tx, { place, ...countOrders(before, changes) })
  for (const [at, stepChanges] of countSteps(changes)) await addToStep(tx, at, stepChanges)
}
