import type { ChildProcess } from 'node:child_process'

/** A started program with everything that it starts. */
export interface ProcessTree {
  /** Its first process, with pipes for its output. */
  readonly main: ChildProcess
  /** Sends SIGTERM to every process. */
  terminate(): Promise<void>
  /** Whether no process is left. */
  isEmpty(): Promise<boolean>
  /** Kills every process; resolves when none is left. May be called twice. */
  destroy(): Promise<void>
}

/** What is started. */
export interface Started {
  readonly executionId: string
  readonly run: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

/** The environment variable that marks the processes of an execution. */
export const EXECUTION_VARIABLE = 'PLATFORM_EXECUTION_ID'

/** The whole environment of a program. */
export function environmentOf({ executionId, environment }: Started): Record<string, string> {
  return { ...environment, [EXECUTION_VARIABLE]: executionId }
}
