import type { Readable, Writable } from 'node:stream'
import { loadConfig, type LoadedConfig } from '../../config/config.ts'
import type { Environment } from '../../config/env.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import type { Store } from '../../store/store.ts'
import { openCurrentDatabase, openDatabase } from '../database.ts'

/** What a command has of the world. */
export interface CommandContext {
  readonly env: Environment
  readonly cwd: string
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown }
  readonly stdout: Writable & { readonly isTTY?: boolean }
  readonly stderr: Writable & { readonly isTTY?: boolean }
}

/** Options that every command which reads the configuration has. */
export interface ConfigOptions {
  readonly config?: string
  readonly module?: string
}

export function configOf({ env, cwd, stdout }: CommandContext, options: ConfigOptions): LoadedConfig {
  return loadConfig({
    env,
    cwd,
    configPath: options.config,
    moduleOverride: options.module,
    terminal: stdout.isTTY === true,
  })
}

const SILENT = { logger: silentLogger, metrics: noMetrics }

/** Opens the configured database for the time of `use`, as it is. */
export async function withDatabase<T>(
  { config }: LoadedConfig,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  return closing(await openDatabase({ config, ...SILENT }), use)
}

/** Opens the configured database, with the current schema, for the time of `use`. */
export async function withStore<T>({ config }: LoadedConfig, use: (store: Store) => Promise<T>): Promise<T> {
  return closing(await openCurrentDatabase({ config, ...SILENT }), use)
}

async function closing<T>(store: Store, use: (store: Store) => Promise<T>): Promise<T> {
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}
