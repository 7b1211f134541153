#!/usr/bin/env node
// Needs only Node.js and the notification module, which is the other file in its directory.
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { currentTime, processEnvironment } from './env.ts'
import { createLog } from './log.ts'
import { ticketNotify, type Runtime } from './main.ts'
import type { NotifyModule } from './notification.ts'

// notify.ts beside ticket-notify.ts, notify.mjs beside ticket-notify.mjs; computed, so that it is not bundled.
const notifyUrl = new URL(`notify${extname(fileURLToPath(import.meta.url))}`, import.meta.url).href

const runtime: Runtime = {
  env: processEnvironment(),
  nodeVersion: process.versions.node,
  stdout: process.stdout,
  stderr: process.stderr,
  now: currentTime,
  loadNotify: (): Promise<NotifyModule> => import(notifyUrl),
}

// The process would end with 0 when nothing is left that could settle the program.
process.once('beforeExit', () => {
  if (process.exitCode !== undefined) return
  createLog(runtime.stderr, runtime.now).error('the program has ended without a result')
  process.exitCode = 1
})

// There is no await at the top level, so that a Node.js that is too old reaches the check of its version.
void ticketNotify(process.argv.slice(2), runtime).then((exitCode) => {
  process.exitCode = exitCode
})
