import type { Command } from 'commander'
import { VERSION } from '../../version.ts'
import type { CommandContext } from '../context.ts'
import { commandTree } from './command-tree.ts'
import { completionScript, type Shell } from './completion.ts'
import { manualPage } from './manual.ts'

export type { Shell } from './completion.ts'

/** `platform completion`: prints the script that a shell loads. */
export function printCompletion({ stdout }: CommandContext, program: Command, shell: Shell): void {
  stdout.write(completionScript(shell, commandTree(program)))
}

/** `platform manual`: prints the manual page. */
export function printManual({ stdout }: CommandContext, program: Command): void {
  stdout.write(`${manualPage(commandTree(program), VERSION)}\n`)
}
