import type { Command, Option } from 'commander'

/** A command of the program, as completions and the manual describe it. */
export interface CommandNode {
  /** From the program to the command: `['platform', 'user', 'add']`. */
  readonly path: readonly string[]
  readonly description: string
  /** What follows the path: `[options] <name>`. */
  readonly usage: string
  readonly options: readonly OptionNode[]
  /** Values that an argument of the command may have. */
  readonly choices: readonly string[]
  readonly commands: readonly CommandNode[]
}

interface OptionNode {
  /** `--config <file>` */
  readonly flags: string
  /** `--config` */
  readonly long: string
  readonly description: string
  readonly value: OptionValue
}

/** What the value of an option is; `none` for a flag. */
type OptionValue =
  | { readonly kind: 'none' | 'text' | 'file' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }

/** Describes a command and all commands in it. */
export function commandTree(command: Command, parents: readonly string[] = []): CommandNode {
  const path = [...parents, command.name()]
  return {
    path,
    description: command.description(),
    usage: command.usage(),
    options: command.options.map(optionNode),
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    commands: command.commands.map((inner) => commandTree(inner, path)),
  }
}

/** A command and all commands in it, each before those in it. */
export function allCommands(root: CommandNode): CommandNode[] {
  return [root, ...root.commands.flatMap(allCommands)]
}

function optionNode({ flags, long, short, description, ...option }: Option): OptionNode {
  return { flags, long: long ?? short ?? flags, description, value: valueOf({ flags, ...option }) }
}

const FILE = /<(file|directory)>/

function valueOf({
  flags,
  required,
  optional,
  argChoices,
}: Pick<Option, 'flags' | 'required' | 'optional' | 'argChoices'>): OptionValue {
  if (argChoices) return { kind: 'choice', choices: argChoices }
  if (FILE.test(flags)) return { kind: 'file' }
  return { kind: required || optional ? 'text' : 'none' }
}
