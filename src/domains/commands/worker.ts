import type { Metrics } from '../../kernel/metrics.ts'
import { SECOND } from '../../kernel/time.ts'
import type { Containment } from '../../kernel/command.ts'
import { Runner, type WorkOutcome } from '../../store/work/runner.ts'
import type { Tx } from '../../store/store.ts'
import { WorkQueue } from '../../store/work/work-queue.ts'
import type { ModuleRunner } from '../../wire/domain.ts'
import { claimQueued, type ClaimedExecution } from './claims.ts'
import { runExecution, type ExecutionRunDeps, type RunResult } from './execution-run.ts'
import type { CommandJournal } from './journal.ts'
import { LEASE_MS } from './lease-watch.ts'
import type { StartRules } from './start-rules.ts'
import { finishRun, saveOutput } from './store.ts'
import { executions } from './tables.ts'
import { requireFinished } from './upkeep.ts'

export interface CommandWorkerDeps extends ExecutionRunDeps {
  readonly metrics: Metrics
  readonly journal: CommandJournal
  readonly rules: StartRules
  readonly host: string
}

/** How often a worker looks for requests of other processes. */
const CLAIM_EVERY_MS = SECOND / 2
const CONCURRENCY = 32
// An attempt is never repeated.
const NO_RETRY = { initialMs: 1, maximumMs: 1, giveUpAfterMs: 0 }

const queue = new WorkQueue('command_executions', executions)

/** Runs queued executions in the worker. Only this part of the domain starts programs. */
export class CommandWorker implements ModuleRunner {
  readonly #deps: CommandWorkerDeps
  readonly #runner: Runner<ClaimedExecution, RunResult>
  #containment: Containment | null = null
  #starting: Promise<void> | undefined
  #isStopped = false

  constructor(deps: CommandWorkerDeps) {
    this.#deps = deps
    this.#runner = new Runner<ClaimedExecution, RunResult>({
      ...deps,
      name: 'commands',
      everyMs: CLAIM_EVERY_MS,
      leaseMs: LEASE_MS,
      concurrency: CONCURRENCY,
      retry: NO_RETRY,
      claim: (tx, claim) => claimQueued(tx, claim, this.#claimer()),
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

  /** Ends what runs, as incomplete; may be called twice. */
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

  #claimer() {
    const { catalogue, host, rules } = this.#deps
    const containmentOf = (id: string) => (catalogue.isProgram(id) ? this.#containment : null)
    return { host, rules, limits: catalogue.limits(), containmentOf }
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
