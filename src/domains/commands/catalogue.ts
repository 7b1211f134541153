import type { BuiltInCommand, ProgramCommand } from '../../kernel/command.ts'
import { notFound } from '../../kernel/errors.ts'
import { pageOfNamed, type Page, type PageOrder, type PageRequest } from '../../kernel/page.ts'

/** A command of either kind. */
export type AnyCommand = BuiltInCommand | ProgramCommand

/** Whether the command starts a program; otherwise it is code of the platform. */
export function isProgramCommand(command: AnyCommand): command is ProgramCommand {
  return Array.isArray(command.run)
}

const LIST = 'commands'

export const BY_ID: PageOrder<'id'> = { name: 'id', keys: [{ name: 'id', type: 'text', direction: 'asc' }] }

/** The commands of this process, sorted by id. */
export class Catalogue {
  readonly #commands: ReadonlyMap<string, AnyCommand>

  constructor(commands: readonly AnyCommand[]) {
    const sorted = commands.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    this.#commands = new Map(sorted.map((command) => [command.id, command]))
  }

  get ids(): readonly string[] {
    return [...this.#commands.keys()]
  }

  /** Whether there is a command that starts a program. */
  get hasPrograms(): boolean {
    return this.ids.some((id) => this.isProgram(id))
  }

  isProgram(id: string): boolean {
    const command = this.#commands.get(id)
    return command !== undefined && isProgramCommand(command)
  }

  find(id: string): AnyCommand | undefined {
    return this.#commands.get(id)
  }

  /** Throws `command_not_found`. */
  get(id: string): AnyCommand {
    const command = this.#commands.get(id)
    if (!command) throw notFound('command', id)
    return command
  }

  page(isListed: (command: AnyCommand) => boolean, page: PageRequest<'id'>): Page<AnyCommand> {
    const listed = [...this.#commands.values()].filter(isListed)
    return pageOfNamed(listed, ({ id }) => id, page, { order: BY_ID, list: LIST })
  }

  /** How many executions of each command may run at the same time. */
  limits(): ReadonlyMap<string, number> {
    return new Map([...this.#commands].map(([id, { maxConcurrent }]) => [id, maxConcurrent]))
  }
}
