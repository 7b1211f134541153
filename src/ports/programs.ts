import type { Containment } from '../kernel/command.ts'

/** A program to run, for one execution of a command. */
export interface Program {
  /** The program gets the id as the environment variable `PLATFORM_EXECUTION_ID`. */
  readonly executionId: string
  /** The program and its arguments; no shell sees them. */
  readonly run: readonly string[]
  /** The whole environment, except for `PLATFORM_EXECUTION_ID`. */
  readonly environment: Readonly<Record<string, string>>
  /** Called for each part of the output. */
  readonly onOutput: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void
  /** When it is aborted, every process of the program gets SIGTERM. */
  readonly terminate: AbortSignal
  /** When it is aborted, every process of the program is killed. */
  readonly kill: AbortSignal
}

/** How a program ended: one member is null. */
export interface ProgramEnd {
  /** 127 if it could not be started; the output says why. */
  readonly exitCode: number | null
  /** The signal that has ended it: `SIGTERM`. */
  readonly signal: string | null
}

/** Runs programs on this host, each with everything that it starts. */
export interface Programs {
  /** The best containment that this host allows; examined once. */
  containment(): Promise<Containment>
  /**
   * Runs a program. Resolves when its first process has ended and no other process of it is left: those that remain are
   * killed. After `terminate` the others may go on until `kill`. Never rejects because of the program.
   */
  run(program: Program): Promise<ProgramEnd>
  /** The executions that processes on this host belong to, as far as it can be seen. */
  executionsWithProcesses(): readonly string[]
  /** Kills the processes on this host that belong to an execution, as far as they can be seen. May be repeated. */
  killProcessesOf(executionId: string): Promise<void>
}
