#!/usr/bin/env node
// The program of a checkout. It starts on the host's Node.js (18 and later) and goes on with the pinned one.
import { existsSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { become } from '../scripts/become.mjs'
import { findRuntime, installedPackages } from '../scripts/runtime.mjs'
import { SetupError } from '../scripts/setup-error.mjs'

/** Commands that must not write any file. */
const WITHOUT_FILES = ['mock-oidc', 'mock-drive', 'mock-pay']

/** @param {string[]} args */
async function main(args) {
  if (!existsSync(installedPackages)) {
    throw new SetupError('the dependencies are not installed; run "npm start" or "npm ci" first')
  }
  const runtime = findRuntime()
  if (realpathSync(runtime) === realpathSync(process.execPath)) await load(args)
  else become(runtime, [fileURLToPath(import.meta.url), ...args])
}

/** @param {string[]} args */
async function load([command = '']) {
  // Loaded here because older versions of Node.js lack what it imports.
  const { keepCompiledCode, useDependencyBundle } = await import('../scripts/fast-start.mjs')
  if (!WITHOUT_FILES.includes(command)) keepCompiledCode()
  useDependencyBundle()
  const { missingPackage } = await import('./missing-package.ts')
  await import('./platform.ts').catch((error) => {
    const missing = missingPackage(error)
    throw missing === undefined ? error : new SetupError(missing)
  })
}

// Awaited: Node.js reports it when this can never settle.
await main(process.argv.slice(2)).catch((error) => {
  console.error(error instanceof SetupError ? `platform: ${error.message}` : error)
  process.exitCode = 1
})
