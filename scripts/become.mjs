import { spawn } from 'node:child_process'
import { constants } from 'node:os'

const FORWARDED = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])

/**
 * Replaces this process by `program`. Node.js before 22.15 cannot do that: there this process stays as the parent, and
 * forwards signals and the exit code.
 *
 * @param {string} program
 * @param {string[]} args
 */
export function become(program, args) {
  if (typeof process.execve === 'function') process.execve(program, [program, ...args], process.env)
  stayAsParent(program, args)
}

/**
 * @param {string} program
 * @param {string[]} args
 */
function stayAsParent(program, args) {
  const child = spawn(program, args, { stdio: 'inherit' })
  for (const signal of FORWARDED) {
    process.on(signal, () => {
      // Ctrl-C signals the whole foreground group, so the child has received it.
      if (signal === 'SIGINT' && process.stdin.isTTY) return
      child.kill(signal)
    })
  }
  child.on('error', (error) => {
    console.error(`cannot run ${program}: ${error.message}`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal ? constants.signals[signal] : 1)
  })
}
