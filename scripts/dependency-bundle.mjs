import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { installedPackages, root } from './runtime.mjs'

/** The npm packages and their parts that the program imports. */
export const SPECIFIERS = [
  '@fastify/rate-limit',
  '@nats-io/jetstream',
  '@nats-io/transport-node',
  '@nats-io/transport-node/lib/node_transport.js',
  '@opentelemetry/api',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace',
  '@zxcvbn-ts/language-common',
  'age-encryption',
  'commander',
  'croner',
  'fastify',
  'kysely',
  'leven',
  'lru-cache',
  'nodemailer',
  'openid-client',
  'p-queue',
  'pg',
  'pg-copy-streams',
  'prom-client',
  're2js',
  'smol-toml',
  'tar/header',
  'tar/parse',
  'tar/pax',
  'typebox',
  'typebox/compile',
  'undici',
  'ws',
]

/** Files that only make starts faster. npm removes them whenever it installs from the lock file. */
export const cacheDirectory = join(root, 'node_modules', '.cache', 'platform')

const SCRIPTS = ['build-dependencies.ts', 'bundling.ts', 'dependency-bundle.mjs']

/** The bundle of the packages that are installed now. The directory appears when the bundle is complete. */
export function bundleDirectory() {
  const hash = createHash('sha256')
  for (const source of [installedPackages, ...SCRIPTS.map((name) => join(root, 'scripts', name))]) {
    hash.update(readFileSync(source)).update('\0')
  }
  return join(cacheDirectory, `dependencies-${hash.digest('hex').slice(0, 16)}`)
}

/**
 * The file of a bundle that has the exports of a package.
 *
 * @param {string} directory
 * @param {string} specifier
 */
export function bundledFile(directory, specifier) {
  return pathToFileURL(join(directory, `${specifier}.mjs`)).href
}

/** @type {import('./build-step.mjs').BuildStep} */
export const DEPENDENCY_BUNDLE = {
  what: 'bundle of the dependencies',
  script: 'scripts/build-dependencies.ts',
  isDue: () => isWritable(join(root, 'node_modules')) && !existsSync(bundleDirectory()),
  isOptional: true,
}

/** @param {string} path */
function isWritable(path) {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}
