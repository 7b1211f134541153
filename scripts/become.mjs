import { spawn } from 'node:child_process'
import { constants } from 'node:os'

const FORWARDED = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])

/**
 * Lets `program` take the place of this process, so that signals and the exit code need no one in between. A host's
 * Node.js older than 22.15 can't do that and stays as a parent that passes both on.
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
      // Ctrl-C reaches the whole foreground group: the terminal has told the child already.
      if (signal === 'SIGINT' && process.stdin.isTTY) return
      child.kill(signal)
    })
  }
  child.on('error', (error) => {
    console.error(`setup: cannot run ${program}: ${error.message}`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal ? constants.signals[signal] : 1)
  })
}
