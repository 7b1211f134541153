#!/usr/bin/env node
// Works with Node.js alone: everything but the notification module, which is the other file in its directory
// (specification, ticket notifier, rule 1).
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { presentTime, processEnvironment } from './env.ts'
import { ticketNotify, type World } from './main.ts'
import type { NotifyModule } from './notification.ts'

// notify.ts beside ticket-notify.ts, notify.mjs beside ticket-notify.mjs; a name that no bundler can follow.
const neighbour = new URL(`notify${extname(fileURLToPath(import.meta.url))}`, import.meta.url).href

const world: World = {
  env: processEnvironment(),
  nodeVersion: process.versions.node,
  stdout: process.stdout,
  stderr: process.stderr,
  now: presentTime,
  loadNotify: (): Promise<NotifyModule> => import(neighbour),
}

// Not awaited here: a Node.js that is too old for that shall come so far as to be told.
void ticketNotify(process.argv.slice(2), world).then((exitCode) => {
  process.exitCode = exitCode
})
