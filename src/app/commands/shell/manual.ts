import { allCommands, type CommandNode } from './command-tree.ts'

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
    section('COMMANDS', ...program.commands.flatMap(allCommands).filter(isLeaf).map(commandText)),
    section('FILES', ...FILES.map(([file, text]) => item(`.I ${escape(file)}`, text))),
    section('EXIT STATUS', ...EXIT_CODES.map(([code, text]) => item(`.B ${code}`, text))),
    section('SEE ALSO', '.BR systemctl (1),\n.BR journalctl (1)'),
  ].join('\n')
}

function isLeaf({ commands }: CommandNode): boolean {
  return commands.length === 0
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
