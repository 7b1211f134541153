import type { WaitingClock } from '../../kernel/clock.ts'
import type { BuiltInCommand, ProgramCommand } from '../../kernel/command.ts'
import { AppError, errorMessage } from '../../kernel/errors.ts'
import { SECOND } from '../../kernel/time.ts'
import { traceEnvironment } from '../../kernel/trace.ts'
import type { ProgramEnd } from '../../ports/programs.ts'
import { isProgramCommand, type AnyCommand } from './catalogue.ts'
import type { CommandParts } from './parts.ts'
import type { RunStatus } from './model.ts'
import { argumentsOf, checkParameters, secretEnvironment, type CheckedParameters } from './parameters.ts'
import { RunOutput, type OutputSnapshot } from './run-output.ts'
import { readProgress, saveOutput, type ClaimedExecution } from './store.ts'

/** How a run has ended. */
export interface RunResult extends ProgramEnd {
  readonly status: RunStatus
  readonly output: OutputSnapshot
}

/** How often the output is stored, and a cancellation is looked for. */
export const FLUSH_EVERY_MS = SECOND / 4
/** docs/specification.md, Commands: SIGKILL 10 s after SIGTERM */
export const KILL_AFTER_MS = 10 * SECOND
// A worker has 10 seconds to stop.
const STOP_KILL_AFTER_MS = 4 * SECOND

const NO_EXIT: ProgramEnd = { exitCode: null, signal: null }

/** Runs one claimed execution to its end. Never rejects: what goes wrong is a failed execution that says why. */
export async function runExecution(
  deps: CommandParts,
  claimed: ClaimedExecution,
  signal: AbortSignal,
): Promise<RunResult> {
  try {
    const { command, params } = prepare(deps, claimed)
    return await new ExecutionRun(deps, claimed, params).run(command, signal)
  } catch (error) {
    deps.logger.error({ execution_id: claimed.id, error }, 'an execution could not be started')
    const output = new RunOutput([])
    output.end([error instanceof AppError ? error.message : 'The worker could not start it; see its log.'])
    return { ...NO_EXIT, status: 'failed', output: output.snapshot }
  }
}

/** The configuration of the worker may differ from that of the api, so the parameters are checked again. */
function prepare(
  { catalogue, secrets }: CommandParts,
  { id, commandId, params, secrets: sealed }: ClaimedExecution,
) {
  const command = catalogue.get(commandId)
  const values = { ...params, ...secrets.open(id, sealed) }
  return { command, params: checkParameters(command.params, values) }
}

class ExecutionRun {
  readonly #deps: CommandParts
  readonly #claimed: ClaimedExecution
  readonly #params: CheckedParameters
  readonly #output: RunOutput
  readonly #done = new AbortController()
  readonly #early: EarlyEnd

  constructor(deps: CommandParts, claimed: ClaimedExecution, params: CheckedParameters) {
    this.#deps = deps
    this.#claimed = claimed
    this.#params = params
    this.#output = new RunOutput(Object.values(params.secrets).map(String))
    this.#early = new EarlyEnd(deps.clock, this.#done.signal)
  }

  async run(command: AnyCommand, signal: AbortSignal): Promise<RunResult> {
    const stop = () => this.#early.end('incomplete', STOP_KILL_AFTER_MS)
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    void this.#endAfter(command.timeoutMs)
    const following = this.#follow()
    const { end, error } = await this.#carryOut(command)
    this.#done.abort()
    signal.removeEventListener('abort', stop)
    await following
    const status = this.#early.cause ?? (end.exitCode === 0 && !error ? 'succeeded' : 'failed')
    this.#output.end([...(error ? [error] : []), ...this.#explanation(command, status)])
    return { ...end, status, output: this.#output.snapshot }
  }

  async #carryOut(command: AnyCommand): Promise<{ end: ProgramEnd; error?: string }> {
    try {
      return { end: await (isProgramCommand(command) ? this.#program(command) : this.#builtIn(command)) }
    } catch (error) {
      const { logger } = this.#deps
      logger.warn({ execution_id: this.#claimed.id, error }, 'an execution has failed')
      return { end: NO_EXIT, error: errorMessage(error) }
    }
  }

  #program(command: ProgramCommand): Promise<ProgramEnd> {
    const { programs, environment } = this.#deps
    const { redacted, secrets } = this.#params
    return programs.run({
      executionId: this.#claimed.id,
      run: argumentsOf(command, redacted),
      environment: { ...environment, ...traceEnvironment(), ...secretEnvironment(secrets) },
      onOutput: (stream, bytes) => this.#output.write(stream, bytes),
      terminate: this.#early.terminate.signal,
      kill: this.#early.kill.signal,
    })
  }

  async #builtIn(command: BuiltInCommand): Promise<ProgramEnd> {
    const { terminate, kill } = this.#early
    const { promise: killed, resolve } = Promise.withResolvers<void>()
    kill.signal.addEventListener('abort', () => resolve(), { once: true })
    const work = command.run({
      params: { ...this.#params.redacted, ...this.#params.secrets },
      actor: this.#claimed.requestedBy,
      signal: terminate.signal,
      print: (line) => this.#output.write('stdout', Buffer.from(`${line}\n`)),
    })
    await Promise.race([work, killed])
    return { exitCode: 0, signal: null }
  }

  async #endAfter(timeoutMs: number): Promise<void> {
    await this.#deps.clock.wait(timeoutMs, this.#done.signal)
    this.#early.end('timed_out', KILL_AFTER_MS)
  }

  /** Stores new output, and looks for a cancellation, until the run is over. */
  async #follow(): Promise<void> {
    const { clock } = this.#deps
    for (let stored = 0; !this.#done.signal.aborted;) {
      // While the database cannot be reached, the next round does what this one could not.
      stored = await this.#store(stored).catch(() => stored)
      await clock.wait(FLUSH_EVERY_MS, this.#done.signal)
    }
  }

  async #store(stored: number): Promise<number> {
    const { store } = this.#deps
    const { id } = this.#claimed
    const progress = await readProgress(store.read, id)
    if (typeof progress?.cancelledBy === 'string') this.#early.end('cancelled', KILL_AFTER_MS)
    const { snapshot } = this.#output
    if (snapshot.total > stored) await store.write((tx) => saveOutput(tx, id, snapshot))
    return snapshot.total
  }

  #explanation({ timeoutMs }: AnyCommand, status: RunStatus): string[] {
    if (status === 'timed_out') return [`It was ended after its timeout of ${timeoutMs / SECOND} s.`]
    return status === 'incomplete' ? ['It was ended because its worker was stopped.'] : []
  }
}

/** Why a run is ended before its program ends by itself. */
type EndCause = 'timed_out' | 'cancelled' | 'incomplete'

/** Ends a run early: with SIGTERM, and some time later with SIGKILL. The first cause counts. */
class EarlyEnd {
  readonly terminate = new AbortController()
  readonly kill = new AbortController()
  /** Undefined for a run that ends by itself. */
  cause: EndCause | undefined
  readonly #clock: WaitingClock
  readonly #done: AbortSignal

  /** `done` is aborted when the run is over. */
  constructor(clock: WaitingClock, done: AbortSignal) {
    this.#clock = clock
    this.#done = done
  }

  end(cause: EndCause, killAfterMs: number): void {
    if (this.cause || this.#done.aborted) return
    this.cause = cause
    this.terminate.abort()
    void this.#clock.wait(killAfterMs, this.#done).then(() => this.kill.abort())
  }
}
