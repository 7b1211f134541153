import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { eventually } from './eventually.ts'

/** The beginning of a command line whose program gets a parent that does not notice its end. */
export const UNATTENDED = ['sh', '-c', '"$@" & exec sleep 600', 'sh'] as const

/** A killed process whose parent does not read how it ended, as in a container without an init. */
export async function startZombie(): Promise<AsyncDisposable & { readonly pid: number }> {
  const [command, ...args] = [...UNATTENDED, 'sleep', '600']
  const parent = spawn(command, args, { stdio: 'ignore' })
  const closed = once(parent, 'close')
  const pid = await killUnattended(parent.pid ?? 0)
  return {
    pid,
    async [Symbol.asyncDispose]() {
      parent.kill('SIGKILL')
      await closed
    },
  }
}

/** Kills the program that was started with {@link UNATTENDED}; returns its number, which it keeps as a zombie. */
export async function killUnattended(parent: number): Promise<number> {
  const pid = await eventually('the program to be started', () => childOf(parent))
  process.kill(pid, 'SIGKILL')
  await eventually('the program to be a zombie', () => /\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8')))
  return pid
}

/** Undefined until the shell has become a program that does not know of its child. */
function childOf(parent: number): number | undefined {
  if (readFileSync(`/proc/${parent}/comm`, 'utf8') !== 'sleep\n') return undefined
  const [child = ''] = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').split(' ')
  return child === '' ? undefined : Number(child)
}
