import { errorMessage } from '../../../src/kernel/errors.ts'
import { toRfc3339 } from '../../../src/kernel/time.ts'
import type { AlertVariables } from '../alerts/variables.ts'
import type { NightDeps, OpenedDrive } from './deps.ts'
import { localTime, monthOf } from './local-time.ts'
import type { BackupState, RunRecord } from './state.ts'

/** One run: its dependencies, and its state, which is stored at every change. */
export class RunContext {
  readonly deps: NightDeps
  /** Whether this call is a retry. */
  readonly isRetry: boolean
  #state: BackupState
  #opened: OpenedDrive | undefined

  constructor(deps: NightDeps, state: BackupState, { isRetry }: { readonly isRetry: boolean }) {
    this.deps = deps
    this.isRetry = isRetry
    this.#state = state
  }

  get state(): BackupState {
    return this.#state
  }

  get run(): RunRecord {
    const { run } = this.#state
    if (!run) throw new Error('the state has no run; a run is created before its first step')
    return run
  }

  /** The local date of this moment. */
  get today(): string {
    return localTime(this.deps.clock.now(), this.deps.settings.timeZone).date
  }

  update(changes: Partial<BackupState>): void {
    this.replaceState({ ...this.#state, ...changes })
  }

  replaceState(state: BackupState): void {
    this.#state = state
    this.deps.state.write(state)
  }

  updateRun(changes: Partial<RunRecord>): void {
    this.update({ run: { ...this.run, ...changes } })
  }

  /** Opened once, when it is needed first. */
  drive(): OpenedDrive {
    this.#opened ??= this.deps.openDrive(this.deps.signal)
    return this.#opened
  }

  close(): void {
    this.#opened?.drive.close()
  }

  /** The folder on the drive for the backups of the month of this one, or of another. */
  monthFolder(backupId = this.run.backupId): string {
    return `${this.drive().rootDirectory}/backup/${monthOf(backupId)}`
  }

  /** The log line of a failure that does not make the run fail. */
  warn(message: string, error: unknown): void {
    this.deps.logger.warn({ backup_id: this.run.backupId, reason: errorMessage(error) }, message)
  }

  /** The variables of every alert of this run. */
  variables(job = this.run.job): AlertVariables {
    const { run, state } = this
    return {
      backup_id: run.backupId,
      job_name: job,
      backup_type: 'full',
      backup_status: run.reached,
      backup_time: toRfc3339(run.startedAt),
      ...(run.archive && { backup_size: `${run.archive.size} bytes` }),
      ...(run.remote && { target_path: run.remote.path }),
      ...(state.lastSuccess && { last_success_time: toRfc3339(state.lastSuccess.at) }),
      ...(run.failure && { error_code: run.failure.errorCode }),
    }
  }
}
