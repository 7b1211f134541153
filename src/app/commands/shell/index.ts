import type { Command, Option } from 'commander'
import { VERSION } from '../../version.ts'
import type { CommandContext } from '../context.ts'

/** `platform completion`: prints the script that a shell loads. */
export function printCompletion({ stdout }: CommandContext, program: Command, shell: Shell): void {
  stdout.write(completionScript(shell, commandTree(program)))
}

/** `platform manual`: prints the manual page. */
export function printManual({ stdout }: CommandContext, program: Command): void {
  stdout.write(`${manualPage(commandTree(program), VERSION)}\n`)
}

/** Files that the program reads and writes where the package has installed it. */
const FILES = [
  ['/etc/platform/platform.toml', 'the configuration; every command takes another file by --config'],
  ['/etc/platform/platform.env', 'secrets, as variables that only the service reads; mode 600'],
  ['/var/lib/platform', 'the database, its backups, the files of certificates and the secret of tokens'],
] as const

/** From the exit codes in docs/reference/commands.md. */
const EXIT_CODES = [
  ['0', 'done'],
  ['1', 'failed at run time'],
  ['2', 'wrong usage or configuration'],
] as const

/** The manual page of a program, for man(1). */
export function manualPage(program: CommandNode, version: string): string {
  const name = program.path.join(' ')
  return [
    `.TH ${name.toUpperCase()} 1 "" "${name} ${version}" "User Commands"`,
    section('NAME', `${name} \\- ${escape(program.description.replace(/[.]$/, ''))}`),
    section('SYNOPSIS', `.B ${name}\n${escape(program.usage)}`),
    section(
      'COMMANDS',
      ...program.commands
        .flatMap(allCommands)
        .filter(({ commands }) => commands.length === 0)
        .map(commandText),
    ),
    section('FILES', ...FILES.map(([file, text]) => item(`.I ${escape(file)}`, text))),
    section('EXIT STATUS', ...EXIT_CODES.map(([code, text]) => item(`.B ${code}`, text))),
    section('SEE ALSO', '.BR systemctl (1),\n.BR journalctl (1)'),
  ].join('\n')
}

function commandText({ path, usage, description, options }: CommandNode): string {
  const heading = `.SS ${escape([...path, usage].join(' ').trim())}`
  const texts = options.map(({ flags, description: text, value }) => {
    const choices = value.kind === 'choice' ? ` (one of: ${value.choices.join(', ')})` : ''
    return item(`.B ${escape(flags)}`, `${text}${choices}`)
  })
  return [heading, escape(description), ...texts].join('\n')
}

function section(title: string, ...content: readonly string[]): string {
  return [`.SH ${title}`, ...content].join('\n')
}

function item(heading: string, text: string): string {
  return `.TP\n${heading}\n${escape(text)}`
}

/** Text of roff: a hyphen is a minus sign, which can be copied, and no line begins with a request. */
function escape(text: string): string {
  return text
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll(/^(?=[.'])/gm, String.raw`\&`)
}

/** The shells that have completions. */
export type Shell = 'bash' | 'zsh' | 'fish'

/** The completion script of a program for a shell. */
export function completionScript(shell: Shell, program: CommandNode): string {
  return COMPLETIONS[shell](program)
}

const COMPLETIONS: Readonly<Record<Shell, (program: CommandNode) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
}

const HELP = '--help'

/** What can follow a command: commands, options and the values of its arguments. */
function wordsAfter({ commands, options, choices }: CommandNode): string[] {
  return [...commands.map(nameOf), ...choices, ...options.map(({ long }) => long), HELP]
}

function nameOf({ path }: CommandNode): string {
  return path.at(-1) ?? ''
}

function innerPath({ path }: CommandNode): string {
  return path.slice(1).join(' ')
}

/** The commands that contain others: after them a word is a command, after others it is an argument. */
function groups(program: CommandNode): CommandNode[] {
  return allCommands(program).filter(({ commands }) => commands.length > 0)
}

function bashCompletion(program: CommandNode): string {
  const name = nameOf(program)
  const all = allCommands(program)
  const names = groups(program).flatMap(({ commands }) => commands.map(innerPath))
  const files = fileOptions(all)
  return `# Completion of ${name} for bash. Written by "${name} completion bash".
_${name}() {
    local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} path='' word words
    for word in "\${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
        case "\${path:+$path }$word" in
            ${alternatives(names)}) path=\${path:+$path }$word ;;
        esac
    done
    COMPREPLY=()
    case $previous in
        ${files.join(' | ')})
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            return
            ;;
${choiceCases(all)}
    esac
    case $path in
${all.map((command) => `        '${innerPath(command)}') words='${wordsAfter(command).join(' ')}' ;;`).join('\n')}
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _${name} ${name}
`
}

function choiceCases(commands: readonly CommandNode[]): string {
  const cases = commands.flatMap(({ options }) =>
    options.flatMap(({ long, value }) => (value.kind === 'choice' ? [[long, value.choices.join(' ')]] : [])),
  )
  return [...new Map(cases.map(([long = '', choices = '']) => [long, choices]))]
    .map(
      ([long, choices]) =>
        `        ${long})\n            mapfile -t COMPREPLY < <(compgen -W '${choices}' -- "$current")\n            return\n            ;;`,
    )
    .join('\n')
}

function alternatives(paths: readonly string[]): string {
  return paths.map((path) => `'${path}'`).join(' | ')
}

function fileOptions(commands: readonly CommandNode[]): string[] {
  const names = commands.flatMap(({ options }) => options.filter(({ value }) => value.kind === 'file'))
  return [...new Set(names.map(({ long }) => long))]
}

function zshCompletion(program: CommandNode): string {
  const name = nameOf(program)
  const names = groups(program).flatMap(({ commands }) => commands.map(innerPath))
  const cases = allCommands(program).map((command) => {
    const inner = command.commands.map((child) => zshPair(nameOf(child), child.description))
    const options = command.options.map(({ long, description }) => zshPair(long, description))
    const choices = command.choices.map((choice) => zshPair(choice, ''))
    return `        '${innerPath(command)}')
            choices=(${[...inner, ...choices].join(' ')})
            options=(${[...options, zshPair(HELP, 'display help for command')].join(' ')})
            ;;`
  })
  return `#compdef ${name}
# Completion of ${name} for zsh. Written by "${name} completion zsh".
_${name}() {
    local at='' word
    local -a choices options
    for word in "\${(@)words[2,CURRENT-1]}"; do
        case "\${at:+$at }$word" in
            ${alternatives(names)}) at=\${at:+$at }$word ;;
        esac
    done
    case \${words[CURRENT-1]} in
        ${fileOptions(allCommands(program)).join('|')}) _files; return ;;
    esac
    case $at in
${cases.join('\n')}
    esac
    _describe -t commands command choices
    _describe -o options option options
}
_${name} "$@"
`
}

function zshPair(word: string, description: string): string {
  return shellQuote(`${word.replaceAll(':', String.raw`\:`)}${description && `:${description}`}`)
}

function fishCompletion(program: CommandNode): string {
  const name = nameOf(program)
  const lines = allCommands(program).flatMap((command) => {
    const condition = shellQuote(`__${name}_at ${innerPath(command)}`.trimEnd())
    return [
      ...command.commands.map(
        (inner) =>
          `complete -c ${name} -n ${condition} -a ${nameOf(inner)} -d ${shellQuote(inner.description)}`,
      ),
      ...command.choices.map((choice) => `complete -c ${name} -n ${condition} -a ${choice}`),
      ...command.options.map(
        ({ long, description, value }) =>
          `complete -c ${name} -n ${condition} -l ${long.slice(2)} -d ${shellQuote(description)}${fishValue(value)}`,
      ),
    ]
  })
  const names = groups(program).flatMap(({ commands }) => commands.map(innerPath))
  return `# Completion of ${name} for fish. Written by "${name} completion fish".
function __${name}_at
    set -l path
    for word in (commandline -opc)[2..-1]
        set -l next (string join ' ' $path $word)
        contains -- $next ${names.map(shellQuote).join(' ')}; and set path $path $word
    end
    test "$path" = "$argv"
end
complete -c ${name} -f
complete -c ${name} -l help -s h -d 'display help for command'
${lines.join('\n')}
`
}

const FISH_VALUES = { none: () => '', text: () => ' -x', file: () => ' -r -F' } as const

function fishValue(value: CommandNode['options'][number]['value']): string {
  return value.kind === 'choice' ? ` -x -a ${shellQuote(value.choices.join(' '))}` : FISH_VALUES[value.kind]()
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** A command of the program, as completions and the manual describe it. */
interface CommandNode {
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
function allCommands(root: CommandNode): CommandNode[] {
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
