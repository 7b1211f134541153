import type { Containment } from '../../kernel/command.ts'
import { SECOND } from '../../kernel/time.ts'
import { Runner, type WorkClaim, type WorkOutcome } from '../../store/work/runner.ts'
import type { Tx } from '../../store/store.ts'
import { WorkQueue } from '../../store/work/work-queue.ts'
import type { ModuleRunner } from '../../wire/domain.ts'
import type { CommandParts } from './parts.ts'
import { runExecution, type RunResult } from './execution-run.ts'
import { LEASE_MS } from './lease-watch.ts'
import {
  beginRun,
  countRunning,
  findQueued,
  finishRun,
  listQueued,
  lockFor,
  saveOutput,
  type ClaimedExecution,
} from './store.ts'
import { executions } from './tables.ts'
import { requireFinished } from './upkeep.ts'

/** How often a worker looks for requests of other processes. */
const CLAIM_EVERY_MS = SECOND / 2
const CONCURRENCY = 32
// An attempt is never repeated.
const NO_RETRY = { initialMs: 1, maximumMs: 1, giveUpAfterMs: 0 }

const queue = new WorkQueue('command_executions', executions)

/** Runs queued executions in the worker. Only this part of the domain starts programs. */
export class CommandWorker implements ModuleRunner {
  readonly #deps: CommandParts
  readonly #runner: Runner<ClaimedExecution, RunResult>
  #containment: Containment | null = null
  #starting: Promise<void> | undefined
  #isStopped = false

  constructor(deps: CommandParts) {
    this.#deps = deps
    this.#runner = new Runner<ClaimedExecution, RunResult>({
      ...deps,
      name: 'commands',
      everyMs: CLAIM_EVERY_MS,
      leaseMs: LEASE_MS,
      concurrency: CONCURRENCY,
      retry: NO_RETRY,
      claim: (tx, claim) => this.#claim(tx, claim),
      renew: (tx, item, lease) => queue.renew(tx, item, lease),
      work: (item, signal) => runExecution(deps, item, signal),
      settle: (tx, item, holder, outcome) => this.#settle(tx, item, holder, outcome),
    })
  }

  start(): void {
    this.#starting ??= this.#start()
  }

  /** Looks for queued executions at once. */
  wake(): void {
    this.#runner.wake()
  }

  /** Ends the running executions as incomplete; may be called twice. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#starting
    await this.#runner.stop()
  }

  async #start(): Promise<void> {
    const { catalogue, programs, logger } = this.#deps
    if (catalogue.hasPrograms) {
      this.#containment = await programs.containment()
      const level = this.#containment === 'process_scan' ? 'warn' : 'info'
      logger[level]({ containment: this.#containment }, CONTAINMENT_MESSAGES[this.#containment])
    }
    if (!this.#isStopped) this.#runner.start()
  }

  /**
   * Begins queued executions, oldest first, as many as the limits of their commands allow. The rights to run one and to
   * approve it are judged here again, because they may be gone since.
   */
  async #claim(tx: Tx, claim: WorkClaim): Promise<ClaimedExecution[]> {
    const { catalogue, host, rules } = this.#deps
    if (!(await findQueued(tx))) return []
    // Two workers that count at the same time would exceed the limit of a command.
    await lockFor(tx, 'claim')
    const running = await countRunning(tx)
    const limits = catalogue.limits()
    const free = (commandId: string) => (limits.get(commandId) ?? 0) - (running.get(commandId) ?? 0)
    const claimed: ClaimedExecution[] = []
    const runnable = [...limits.keys()].filter((commandId) => free(commandId) > 0)
    for (const queued of await listQueued(tx, runnable)) {
      const { id, commandId } = queued
      if (claimed.length >= claim.limit) break
      if (free(commandId) <= 0) continue
      if (await rules.endUnlessAllowed(tx, queued)) continue
      running.set(commandId, (running.get(commandId) ?? 0) + 1)
      const containment = catalogue.isProgram(commandId) ? this.#containment : null
      const execution = await beginRun(tx, id, claim, host, containment)
      if (execution) claimed.push(execution)
    }
    return claimed
  }

  async #settle(
    tx: Tx,
    { id, attempts }: ClaimedExecution,
    holder: string,
    outcome: WorkOutcome<RunResult>,
  ): Promise<boolean> {
    const result = outcome.status === 'done' ? outcome.result : undefined
    const { status = 'incomplete', exitCode = null, signal = null } = result ?? {}
    const finishedAt = this.#deps.clock.now()
    if (!(await finishRun(tx, { id, attempts, holder, status, exitCode, signal, finishedAt }))) return false
    if (result) await saveOutput(tx, id, result.output)
    const execution = await requireFinished(tx, id)
    await this.#deps.journal.recordEnd(tx, execution, execution.cancelledBy ?? 'worker')
    return true
  }
}

const CONTAINMENT_MESSAGES: Readonly<Record<Containment, string>> = {
  pid_namespace: 'programs of commands run in PID namespaces',
  process_scan:
    'programs of commands run without a PID namespace, because this host does not allow one: a process that hides can ' +
    'outlive its execution',
}
