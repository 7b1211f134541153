import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'node:test'
import { ConfigError } from '../../src/config/config-error.ts'
import { loadConfig, type LoadedConfig } from '../../src/config/config.ts'
import type { Environment } from '../../src/config/env.ts'
import type { ResolveOptions } from '../../src/config/resolve.ts'

/** The configuration of a program in a directory of its own, which each test of the file gets anew. */
export interface ConfigFiles {
  /** The path of a file in the directory. */
  path(name: string): string
  /** Writes the configuration file and loads it. */
  load(toml: string | Uint8Array, env?: Environment, options?: Partial<ResolveOptions>): LoadedConfig
  /** Loads the configuration of a system without a configuration file. */
  withoutFile(env?: Environment, options?: Partial<ResolveOptions>): LoadedConfig
}

export function configFiles(): ConfigFiles {
  let cwd: string
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), 'config-'))
  })
  afterEach(() => {
    rmSync(cwd, { recursive: true })
  })
  const path = (name: string) => join(cwd, name)
  return {
    path,
    load(toml, env = {}, options = {}) {
      writeFileSync(path('platform.toml'), toml)
      return loadConfig({ env, cwd, ...options })
    },
    withoutFile: (env = {}, options = {}) =>
      loadConfig({ env, cwd, systemConfigPath: path('none.toml'), ...options }),
  }
}

/** The lines of the error with which the configuration is refused. */
export function configErrorLines(read: () => unknown): readonly string[] {
  try {
    read()
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    return error.message.split('\n')
  }
  return assert.fail('the configuration was accepted')
}
