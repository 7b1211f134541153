import { allCommands, type CommandNode } from './command-tree.ts'

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
    const inner = command.commands.map((each) => zshPair(nameOf(each), each.description))
    const options = command.options.map(({ long, description }) => zshPair(long, description))
    const choices = command.choices.map((each) => zshPair(each, ''))
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
