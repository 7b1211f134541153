import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { page } from './markdown.ts'

const NOTE = `In a checkout a command is run as \`npx platform …\`, elsewhere
[so](../guide/installing.md#how-a-command-is-typed). Exit codes: 0 done, 1 failed at run time, 2 wrong usage or configuration.`

interface Help {
  readonly command: string
  readonly text: string
}

/** The help texts of all commands. */
export async function commandsPage(root: string): Promise<string> {
  const helps = await helpOf(root, [])
  const sections = helps.flatMap(({ command, text: help }) => [
    `## ${command}`,
    `\`\`\`text\n${help.trimEnd()}\n\`\`\``,
  ])
  return page('Commands', NOTE, ...sections)
}

/** The help of a command, followed by that of its sub-commands. */
async function helpOf(root: string, path: readonly string[]): Promise<Help[]> {
  const own = await printedHelp(root, path)
  const inner = await Promise.all(subCommands(own).map((name) => helpOf(root, [...path, name])))
  return [{ command: ['platform', ...path].join(' '), text: own }, ...inner.flat()]
}

async function printedHelp(root: string, path: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, ['bin/platform.mjs', ...path, '--help'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const help = await text(child.stdout)
  if (help === '') throw new Error(`platform ${path.join(' ')} --help printed nothing.`)
  return help
}

function subCommands(help: string): string[] {
  const [, commands = ''] = help.split('\nCommands:\n')
  const names = [...commands.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name)
  return names.filter((name) => name !== 'help')
}
