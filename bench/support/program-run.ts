import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { residentMegabytes } from './resident.ts'

const LOOK_EVERY_MS = 10

/** The time and the most memory of a program that ends by itself. */
export interface ProgramRun {
  readonly seconds: number
  readonly peakMegabytes: number
}

/** Rejects with what the program has printed when it does not end with 0. */
export async function runToEnd(
  [program = '', ...args]: readonly string[],
  cwd?: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ProgramRun> {
  const begin = performance.now()
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let peak = 0
  const look = setInterval(() => {
    try {
      peak = Math.max(peak, residentMegabytes(child.pid as number))
    } catch {
      // It has just ended.
    }
  }, LOOK_EVERY_MS)
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [printed, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  clearInterval(look)
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} has ended with ${code}: ${printed}${errors}`)
  return { seconds: (performance.now() - begin) / 1_000, peakMegabytes: peak }
}
