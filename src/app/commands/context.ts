import type { Readable, Writable } from 'node:stream'
import { loadConfig, type LoadedConfig } from '../../config/config.ts'
import type { Environment } from '../../config/env.ts'
import { tokenLifetime } from '../../config/schema.ts'
import { invalidField } from '../../kernel/errors.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import type { Store } from '../../store/store.ts'
import { openCurrentDatabase, openDatabase } from '../database.ts'

/** The environment of a command. */
export interface CommandContext {
  readonly env: Environment
  readonly cwd: string
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown }
  readonly stdout: Writable & { readonly isTTY?: boolean }
  readonly stderr: Writable & { readonly isTTY?: boolean }
}

/** The options of every command that reads the configuration. */
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

/** Milliseconds of `--ttl`; throws `invalid` when it is no duration, or longer than a token may be valid. */
export function parseTokenLifetime(text: string): number {
  const lifetimeMs = tokenLifetime.parse(text, '')
  if (lifetimeMs !== undefined) return lifetimeMs
  throw invalidField('--ttl', `expected ${tokenLifetime.expected}, got ${JSON.stringify(text)}`)
}

const SILENT = { logger: silentLogger, metrics: noMetrics }

/** Opens the configured database as it is while `use` runs. Only `create` makes a database that does not exist. */
export async function withDatabase<T>(
  loaded: LoadedConfig,
  use: (store: Store) => Promise<T>,
  { create = false } = {},
): Promise<T> {
  const existing = create ? {} : { mustExist: databaseSetting(loaded) }
  return closing(await openDatabase({ config: loaded.config, ...SILENT, ...existing }), use)
}

/** Opens the configured database, which must exist, with the current schema while `use` runs. */
export async function withStore<T>(loaded: LoadedConfig, use: (store: Store) => Promise<T>): Promise<T> {
  const parts = { config: loaded.config, ...SILENT, mustExist: databaseSetting(loaded) }
  return closing(await openCurrentDatabase(parts), use)
}

/** The setting that decides where the database is, with its source: `data_dir: default`. */
function databaseSetting({ settings }: LoadedConfig): string {
  const sourceOf = (key: string) => settings.find((setting) => setting.key === key)?.source ?? 'default'
  const key = sourceOf('database.url') === 'default' ? 'data_dir' : 'database.url'
  return `${key}: ${sourceOf(key)}`
}

async function closing<T>(store: Store, use: (store: Store) => Promise<T>): Promise<T> {
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}
