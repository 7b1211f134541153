// Loaded with --import: writes the arguments of this process, and of each program that it starts, to RECORDED_PROGRAMS.
import { appendFileSync } from 'node:fs'
import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'

const file = process.env['RECORDED_PROGRAMS'] ?? ''
const record = (args: readonly string[]) => appendFileSync(file, `${JSON.stringify(args)}\n`)

record(process.argv)
subscribe('child_process', (message) => {
  const { process: child } = message as { readonly process: ChildProcess }
  // The message is sent before the child has its arguments.
  process.nextTick(() => record(child.spawnargs))
})
