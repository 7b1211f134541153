import { errorMessage } from '../../../src/kernel/errors.ts'
import { toRfc3339 } from '../../../src/kernel/time.ts'
import { newTrace, runInPart, runInSpan } from '../../../src/kernel/trace.ts'
import { isSystemError } from '../../files/system-error.ts'
import { lostNightTicket } from '../alerts/tickets.ts'
import type { ErrorCode } from '../errors.ts'
import type { ClosedGate } from '../host/gates.ts'
import type { NightDeps } from './deps.ts'
import { toFailure } from './failure.ts'
import { localTime, newBackupId } from './local-time.ts'
import { RunContext } from './run-context.ts'
import { dueForRetry, dueForSchedule, type Due } from './schedule.ts'
import { keepInStaging } from './staging.ts'
import {
  hasReached,
  nightOf,
  withGivenId,
  withNight,
  withOpenAlert,
  type BackupState,
  type RunFailure,
  type RunRecord,
  type RunState,
} from './state.ts'
import { cleanStep, REBOOT_JOB, rebootServer } from './steps/host.ts'
import { packageStep } from './steps/package.ts'
import { logsStep, succeedStep } from './steps/succeed.ts'
import type { NightStep } from './steps/step.ts'
import { uploadStep } from './steps/upload.ts'
import { verifyStep } from './steps/verify.ts'

/** What a call has done. */
export interface NightOutcome {
  /** `lost`: the window is over, and the date has no backup. */
  readonly outcome: 'succeeded' | 'failed' | 'lost' | 'nothing'
  /** One sentence. */
  readonly message: string
  readonly run?: RunRecord
  readonly errorCode?: ErrorCode
  readonly reboot?: 'begun' | 'held_back' | 'off'
  readonly heldBackBy?: ClosedGate
}

export interface NightOptions {
  /** False with `--no-reboot`. */
  readonly mayReboot: boolean
}

/** The steps up to the success, in their order. */
const BACKUP_STEPS: readonly NightStep[] = [packageStep, uploadStep, verifyStep, succeedStep]

/** What the calls of the routine do. The caller has the lock. */
export class Night {
  readonly #deps: NightDeps
  readonly #options: NightOptions

  constructor(deps: NightDeps, options: NightOptions) {
    this.#deps = deps
    this.#options = options
  }

  /** Always runs. */
  async run(): Promise<NightOutcome> {
    const { state, wasKilled } = await this.#recordKilledRun()
    return this.#attempt(state, { isRetry: false, goesOn: wasKilled })
  }

  /** Runs once per local date, inside the window. */
  async runScheduled(): Promise<NightOutcome> {
    const due = this.#checkDue(dueForSchedule)
    const { state, wasKilled } = await this.#recordKilledRun()
    if (due.action !== 'run') return this.#skipRun(due)
    return this.#escalate(await this.#attempt(state, { isRetry: false, goesOn: wasKilled }))
  }

  /** Does what is due for a failed night. */
  async retryOnce(): Promise<NightOutcome> {
    const due = this.#checkDue(dueForRetry)
    const { state } = await this.#recordKilledRun()
    if (due.action === 'lost') return this.#lose(state)
    // The state does not have a run that could not write it. Then this fails as well, and is reported.
    if (state.run?.date !== this.#today()) this.#deps.state.write(state)
    if (due.action !== 'retry') return this.#skipRun(due)
    return this.#escalate(await this.#attempt(state, { isRetry: true, goesOn: true }))
  }

  #today(): string {
    return localTime(this.#deps.clock.now(), this.#deps.settings.timeZone).date
  }

  #checkDue(rule: typeof dueForRetry): Due {
    return rule(this.#deps.state.read(), this.#deps.clock.now(), this.#deps.settings)
  }

  /** What waits for the platform is sent, too. */
  async #skipRun(due: Due): Promise<NightOutcome> {
    const message = due.action === 'nothing' ? due.reason : 'there is nothing to do'
    this.#deps.logger.info({}, `nothing to do: ${message}`)
    await this.#deps.alerts.deliver()
    return { outcome: 'nothing', message }
  }

  /** Reports a run that was killed: it is still marked as running, but its process does not have the lock. */
  async #recordKilledRun(): Promise<{ readonly state: BackupState; readonly wasKilled: boolean }> {
    const state = this.#deps.state.read()
    if (state.run?.status !== 'running') return { state, wasKilled: false }
    const context = new RunContext(this.#deps, state, { isRetry: false })
    // Before the report: a call that cannot write the state is reported as such, once.
    context.replaceState(state)
    const { job, backupId } = state.run
    const message = `The run ${backupId} was killed during the step ${job}.`
    await this.#recordFailure(context, {
      errorCode: 'interrupted',
      message,
      job,
      at: this.#deps.clock.now(),
    })
    return { state: context.state, wasKilled: true }
  }

  async #attempt(
    before: BackupState,
    { isRetry, goesOn }: { readonly isRetry: boolean; readonly goesOn: boolean },
  ): Promise<NightOutcome> {
    const deps = this.#deps
    const date = this.#today()
    const resumed = goesOn ? resumableRun(before, date) : undefined
    const state = resumed ? { ...before, run: resumed } : this.#newRun(before, date)
    const context = new RunContext(deps, state, { isRetry })
    try {
      context.replaceState(state)
      deps.logger.info({ backup_id: context.run.backupId, resumed: resumed !== undefined }, 'the run begins')
      if (!isRetry && !resumed) await deps.alerts.report('backup_started', context.variables('backup'))
      const attributes = { 'backup.id': context.run.backupId }
      const span = { name: 'night', kind: 'internal', attributes } as const
      return await runInSpan(newTrace(), span, () => this.#steps(context))
    } finally {
      context.close()
    }
  }

  #newRun(state: BackupState, date: string): BackupState {
    const { clock, settings } = this.#deps
    const backupId = newBackupId(clock.now(), settings.timeZone, state.givenIds)
    const { run: last } = state
    const isAbandoned = last?.archive !== undefined && !hasReached(last, 'verified')
    return {
      ...state,
      givenIds: withGivenId(state, backupId),
      abandonedIds: isAbandoned ? [...state.abandonedIds, last.backupId] : state.abandonedIds,
      run: {
        backupId,
        date,
        startedAt: clock.now(),
        status: 'running',
        reached: 'started',
        job: packageStep.name,
        durations: {},
      },
    }
  }

  async #steps(context: RunContext): Promise<NightOutcome> {
    const isVerified = hasReached(context.run, 'verified')
    const steps = isVerified ? [verifyStep, succeedStep] : BACKUP_STEPS
    for (const step of [...steps, logsStep, cleanStep]) {
      const failure = await this.#step(context, step)
      if (failure) return this.#failRun(context, failure)
    }
    return this.#reboot(context)
  }

  async #step(context: RunContext, step: NightStep): Promise<RunFailure | undefined> {
    const { clock, logger, signal } = this.#deps
    const begun = clock.monotonic()
    try {
      signal?.throwIfAborted()
      context.updateRun({ job: step.name })
      await runInPart({ name: `night ${step.name}`, kind: 'internal' }, () => step.run(context))
      const durations = { ...context.run.durations, [step.name]: Math.round(clock.monotonic() - begun) }
      context.updateRun({ reached: step.reaches, durations })
      logger.info({ backup_id: context.run.backupId, duration_ms: durations[step.name] }, step.reaches)
      return undefined
    } catch (error) {
      if (!isExpected(error)) logger.error({ error }, `the step ${step.name} has failed`)
      return toFailure(error, step, { at: clock.now(), isAborted: signal?.aborted ?? false })
    }
  }

  async #failRun(context: RunContext, failure: RunFailure): Promise<NightOutcome> {
    await this.#recordFailure(context, failure)
    return failedOutcome(context, failure)
  }

  #logFailure({ run: { backupId } }: RunContext, { errorCode, job, message }: RunFailure): void {
    this.#deps.logger.error({ backup_id: backupId, error_code: errorCode, job }, message)
  }

  async #recordFailure(context: RunContext, failure: RunFailure): Promise<void> {
    const { alerts, settings } = this.#deps
    const { run, state } = context
    const night = nightOf(state, run.date)
    const failures = night.failures + 1
    this.#logFailure(context, failure)
    const variables = {
      ...context.variables(failure.job),
      backup_status: 'failed',
      error_code: failure.errorCode,
    }
    await alerts.report(failures === 1 ? 'backup_failed' : 'backup_failed_again', variables, [
      failure.message,
    ])
    const isSucceeded = hasReached(run, 'succeeded')
    if (!isSucceeded)
      await keepInStaging(settings.staging, run.archive).catch((error: unknown) =>
        context.warn('the staging directory could not be emptied', error),
      )
    this.#remember(context, {
      run: { ...run, status: 'failed', reached: reachedAfter(run, failure), failure },
      nights: withNight(state, { ...night, failures }),
      openAlerts: withOpenAlert(state, 'failed'),
    })
  }

  /** Stores what was reported. Without a disk that takes it, the next call finds a run that was killed. */
  #remember(context: RunContext, changes: Partial<BackupState>): void {
    try {
      context.update(changes)
    } catch (error) {
      if (!isSystemError(error)) throw error
      this.#deps.logger.error({ reason: errorMessage(error) }, 'the state cannot be written')
    }
  }

  async #reboot(context: RunContext): Promise<NightOutcome> {
    const succeeded = (reboot: 'begun' | 'held_back' | 'off'): NightOutcome => {
      context.updateRun({ status: 'done' })
      return { outcome: 'succeeded', message: 'the backup is verified', run: context.run, reboot }
    }
    if (!this.#deps.settings.reboot || !this.#options.mayReboot) return succeeded('off')
    try {
      context.updateRun({ job: REBOOT_JOB })
      const heldBackBy = await rebootServer(context)
      return heldBackBy ? { ...succeeded('held_back'), heldBackBy } : succeeded('begun')
    } catch (error) {
      if (!isExpected(error)) this.#deps.logger.error({ error }, 'the reboot has failed')
      const step = { name: REBOOT_JOB, errorCode: 'internal' } as const
      const failure = toFailure(error, step, { at: this.#deps.clock.now(), isAborted: false })
      context.updateRun({ status: 'failed', reached: 'cleaned', failure })
      this.#logFailure(context, failure)
      return failedOutcome(context, failure)
    }
  }

  /** A try that began in the window may fail after its end. */
  async #escalate(outcome: NightOutcome): Promise<NightOutcome> {
    if (outcome.outcome !== 'failed' || this.#checkDue(dueForRetry).action !== 'lost') return outcome
    await this.#lose(this.#deps.state.read())
    return outcome
  }

  /** Reports that the night is lost, with an alert and a ticket, and ends its automatic retries. Once per date. */
  async #lose(state: BackupState): Promise<NightOutcome> {
    const { alerts, clock, logger, settings } = this.#deps
    const date = this.#today()
    const context = new RunContext(this.#deps, state, { isRetry: true })
    const { failures } = nightOf(state, date)
    const failure = context.run.failure
    const message = `There is no backup of ${date}: ${failures} failed tries until ${settings.windowEnd}, the last with ${failure?.errorCode ?? 'internal'}. ${failure?.message ?? ''}`
    logger.error({ date, failures }, message)
    await alerts.report('night_lost', { ...context.variables(), backup_status: 'critical' }, [
      failure?.message ?? '',
    ])
    await alerts.openTicket(lostNightTicket(date, ticketText(message, state)))
    this.#remember(context, {
      nights: withNight(state, { ...nightOf(state, date), lostAt: clock.now() }),
      openAlerts: withOpenAlert(state, 'critical'),
    })
    return {
      outcome: 'lost',
      message,
      run: context.run,
      ...(failure && { errorCode: failure.errorCode }),
    }
  }
}

function failedOutcome({ run }: RunContext, { message, errorCode }: RunFailure): NightOutcome {
  return { outcome: 'failed', message, errorCode, run }
}

/** The run of today that has failed or was killed, unless its backup has succeeded. */
function resumableRun(state: BackupState, today: string): RunRecord | undefined {
  const { run } = state
  if (run?.date !== today || run.status === 'done' || hasReached(run, 'succeeded')) return undefined
  const { failure: _failure, ...others } = run
  return { ...others, status: 'running', reached: hasReached(run, 'verified') ? 'verified' : 'started' }
}

/** The last step that counts as done for a retry: after a failed comparison only the package. */
function reachedAfter(run: RunRecord, { job }: RunFailure): RunState {
  return job === verifyStep.name && run.reached !== 'started' ? 'packaged' : run.reached
}

/** An error with a code of its own, or one of the system, needs no stack in the log. */
function isExpected(error: unknown): boolean {
  if (isSystemError(error)) return true
  return error instanceof Error && ('errorCode' in error || error.name === 'AbortError')
}

function ticketText(message: string, { lastSuccess }: BackupState): string {
  const last = lastSuccess
    ? `The last success was ${toRfc3339(lastSuccess.at)}, backup ${lastSuccess.backupId}.`
    : 'There has been no success yet.'
  return `${message}\n${last}\nAfter the cause is removed: platform backup run`
}
