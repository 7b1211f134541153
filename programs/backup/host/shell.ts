import { shellWord } from '../../../src/kernel/text.ts'

/** How a command of this host ended. */
export type CommandOutcome =
  | {
      readonly status: 'succeeded'
      /** The end of its standard output. */
      readonly output: string
    }
  | {
      /** `missing`: this host does not have the program. */
      readonly status: 'failed' | 'missing'
      /** One line that names the program. */
      readonly reason: string
    }

export interface CommandOptions {
  /** It is killed after that time, with everything that it has started. Default: ten minutes. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs programs of this host. A command is a list of arguments, which no shell sees. It gets no variable of this
 * program except the search path. Never rejects.
 */
export interface Shell {
  /** A command that changes something; a dry run prints it. */
  run(command: readonly string[], options?: CommandOptions): Promise<CommandOutcome>
  /** A command that only reads; a dry run executes it, too. */
  ask(command: readonly string[], options?: CommandOptions): Promise<CommandOutcome>
}

/** The command as it could be typed. */
export function formatCommand(command: readonly string[]): string {
  return command.map(shellWord).join(' ')
}
