import type { FileChanges } from '../../programs/backup/host/file-changes.ts'
import { hostFileChanges } from '../../programs/backup/host/file-changes.ts'
import type { CleaningDeps } from '../../programs/backup/host/cleaning/step.ts'
import type { PlatformReader } from '../../programs/backup/host/platform-reader.ts'
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
    // A wait ends at once.
    clock: { ...systemClock, wait: async () => undefined },
    tmpDir: '/nonexistent',
    mediaGlobs: [],
    protectedPaths: [],
    ...deps,
  }
}

/** Answers of the platform by the end of their URL; a status, an object, or a text. The others are empty lists. */
export type PlatformScript = Readonly<Record<string, number | string | object>>

/** A platform that a test plays, with the URLs that it was asked for. */
export function playedPlatform(
  script: PlatformScript = {},
): PlatformReader & { readonly urls: readonly string[] } {
  const urls: string[] = []
  return {
    urls,
    async get(url) {
      urls.push(url)
      const key = Object.keys(script).find((each) => url.endsWith(each))
      const answer = key === undefined ? { items: [] } : script[key]
      if (typeof answer === 'number') return { status: answer, text: '' }
      return { status: 200, text: typeof answer === 'string' ? answer : JSON.stringify(answer) }
    },
    close: () => undefined,
  }
}

/** A platform that is away. */
export const absentPlatform: PlatformReader = {
  get: () => Promise.reject(new Error('the connection failed (ECONNREFUSED)')),
  close: () => undefined,
}
