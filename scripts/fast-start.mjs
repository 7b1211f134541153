import { existsSync } from 'node:fs'
import { constants, enableCompileCache, registerHooks } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleDirectory, bundledFile, cacheDirectory, SPECIFIERS } from './dependency-bundle.mjs'

/** Where compiled code is kept: in the checkout, or in the system's temporary directory if that is read-only. */
const DIRECTORIES = [join(cacheDirectory, 'compiled'), join(tmpdir(), 'node-compile-cache')]

/** Keeps the compiled code of all modules that are loaded from now on. */
export function keepCompiledCode() {
  const directory = DIRECTORIES.find(
    (each) => enableCompileCache(each).status !== constants.compileCacheStatus.FAILED,
  )
  // Threads don't inherit the cache, they read its place from the environment.
  if (directory) process.env['NODE_COMPILE_CACHE'] ??= directory
}

const NODE_HTTP = new URL('node-http.mjs', import.meta.url).href

/** Loads npm packages from their bundle, if one was built from the packages that are installed, and node:http in part. */
export function useDependencyBundle() {
  const directory = bundleDirectory()
  if (!existsSync(directory)) return
  const files = new Map(SPECIFIERS.map((specifier) => [specifier, bundledFile(directory, specifier)]))
  files.set('node:http', NODE_HTTP)
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = context.parentURL?.endsWith('.ts')
        ? resolveImport(specifier, context.parentURL, files)
        : undefined
      return resolved ?? nextResolve(specifier, context)
    },
  })
}

/**
 * Resolves an import of a source file without the look-ups in the file system that Node.js needs; undefined: Node.js
 * resolves it.
 *
 * @param {string} specifier
 * @param {string} parentUrl
 * @param {ReadonlyMap<string, string>} bundled
 */
function resolveImport(specifier, parentUrl, bundled) {
  if (specifier.startsWith('.') && specifier.endsWith('.ts')) {
    return { url: new URL(specifier, parentUrl).href, format: 'module-typescript', shortCircuit: true }
  }
  const url = bundled.get(specifier)
  return url === undefined ? undefined : { url, format: 'module', shortCircuit: true }
}
