import type { FileChanges } from '../../programs/backup/host/file-changes.ts'
import { hostFileChanges } from '../../programs/backup/host/file-changes.ts'
import type { CleaningDeps } from '../../programs/backup/host/cleaning/step.ts'
import type { CommandOutcome, Shell } from '../../programs/backup/host/shell.ts'
import { systemClock } from '../../src/kernel/clock.ts'

/** The outcomes of commands by the beginning of their text; the others succeed without output. */
export type ShellScript = Readonly<Record<string, CommandOutcome>>

export interface RecordingShell extends Shell {
  /** Each command as text, in order. */
  readonly commands: readonly string[]
}

export const missing = (program: string): CommandOutcome => ({
  status: 'missing',
  reason: `${program} is not installed`,
})
export const failing = (reason: string): CommandOutcome => ({ status: 'failed', reason })
export const printing = (output: string): CommandOutcome => ({ status: 'succeeded', output })

/** A shell that runs nothing. */
export function recordingShell(script: ShellScript = {}): RecordingShell {
  const commands: string[] = []
  const run = async (command: readonly string[]) => {
    const text = command.join(' ')
    commands.push(text)
    const key = Object.keys(script).find((each) => text === each || text.startsWith(`${each} `))
    return (key !== undefined && script[key]) || printing('')
  }
  return { commands, run, ask: run }
}

/** Cleans real directories, and runs no program. */
export function cleaningDeps(deps: Partial<CleaningDeps> & { readonly files?: FileChanges }): CleaningDeps {
  return {
    shell: recordingShell(),
    files: hostFileChanges,
    clock: systemClock,
    tmpDir: '/nonexistent',
    mediaGlobs: [],
    protectedPaths: [],
    ...deps,
  }
}
