import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, type FileHandle } from 'node:fs/promises'
import { searchPath } from '../env.ts'
import type { NoJournal } from '../night/deps.ts'
import { isDiskFull, systemErrorCode } from '../../files/system-error.ts'

const PROBE_BYTES = 64 * 1_024
const COMMAND = ['journalctl', '--output=export', '--no-pager', '--quiet'] as const

/** Writes the journal in the form that systemd-journal-remote(8) reads. Resolves with the reason if there is no journal. */
export async function exportJournal(
  target: string,
  signal: AbortSignal | undefined,
  command: readonly string[] = COMMAND,
): Promise<NoJournal | undefined> {
  const [program = '', ...args] = command
  await using file = await open(target, 'w', 0o600)
  try {
    const child = spawn(program, args, {
      cwd: '/',
      env: { PATH: searchPath(), LC_ALL: 'C.UTF-8' },
      stdio: ['ignore', file.fd, 'ignore'],
      ...(signal && { signal }),
    })
    const [code] = (await once(child, 'close')) as [number | null]
    if (code !== 0) await requireRoom(file)
    if (code !== 0) return lostJournal(`${program} has ended with ${code ?? 'a signal'}`)
  } catch (error) {
    signal?.throwIfAborted()
    if (isDiskFull(error)) throw error
    return systemErrorCode(error) === 'ENOENT'
      ? noJournal(`${program} is not installed`)
      : lostJournal(`${program} could not be run`)
  }
  return (await file.stat()).size === 0 ? noJournal('the journal is empty') : undefined
}

/** The program does not say that the disk is full; a write of our own does. */
async function requireRoom(file: FileHandle): Promise<void> {
  await file.writeFile(Buffer.alloc(PROBE_BYTES))
}

const noJournal = (reason: string): NoJournal => ({ reason, isLost: false })
const lostJournal = (reason: string): NoJournal => ({ reason, isLost: true })
