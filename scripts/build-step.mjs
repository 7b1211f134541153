import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { root } from './runtime.mjs'
import { SetupError } from './setup-error.mjs'
import { withSetupLock } from './setup-lock.mjs'

/**
 * Something that set-up builds into the checkout.
 *
 * @typedef {object} BuildStep
 * @property {string} what its name, for people
 * @property {string} script what the pinned Node.js runs to build it
 * @property {() => boolean} isDue whether it is missing or out of date
 * @property {boolean} [isOptional] whether the program works without it
 */

/**
 * Builds what is due. Safe to run in several processes at once.
 *
 * @param {BuildStep} step
 * @param {string} runtime the Node.js that builds
 */
export async function ensureBuilt(step, runtime) {
  if (!step.isDue()) return
  await withSetupLock(`${root}#${step.script}`, async () => {
    // Another process may have built it while this one waited for the lock.
    if (step.isDue()) await build(step, runtime)
  })
}

/**
 * @param {BuildStep} step
 * @param {string} runtime
 */
async function build({ what, script, isOptional }, runtime) {
  const startedAt = Date.now()
  console.error(`setup: building the ${what} …`)
  const { code, output } = await run(runtime, [join(root, script)])
  if (code === 0) {
    console.error(`setup: ${what} built in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`)
    return
  }
  const message = `cannot build the ${what}; ${script} printed:\n${output}`
  if (!isOptional) throw new SetupError(message)
  console.error(`setup: ${message}`)
}

/**
 * Runs a program in the checkout to its end.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<{ code: number | null, output: string }>}
 */
export function run(program, args, env = process.env) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    child.on('error', (error) => reject(new SetupError(`cannot run ${program}: ${error.message}`)))
    child.on('close', (code) => resolve({ code, output }))
  })
}
