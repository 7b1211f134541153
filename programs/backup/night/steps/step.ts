import type { ErrorCode } from '../../errors.ts'
import type { RunContext } from '../run-context.ts'
import type { RunState } from '../state.ts'

/** One step of a run. */
export interface NightStep {
  /** The name in the log, and `job_name` in alerts. */
  readonly name: string
  /** The state of the run after it. */
  readonly reaches: RunState
  /** The code of an error of the file system. */
  readonly errorCode: ErrorCode
  /** Throws a `BackupError`, or another error for a defect. It may be repeated after a kill at any point. */
  run(context: RunContext): Promise<void>
}
