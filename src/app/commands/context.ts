import { userInfo } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { loadConfig, type LoadedConfig, describeConfig } from '../../config/config.ts'
import type { Environment } from '../../config/env.ts'
import type { tokenLifetime } from '../../config/schema.ts'
import type { AuditRecord } from '../../kernel/audit.ts'
import { invalidField } from '../../kernel/errors.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { SECOND } from '../../kernel/time.ts'
import type { Store } from '../../store/store.ts'
import { explainRefusal, openCurrentDatabase, openDatabase } from '../database.ts'

/** The actor of what a command does. */
export const COMMAND_LINE = 'command-line'

/** The environment of a command. */
export interface CommandContext {
  readonly env: Environment
  readonly cwd: string
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown }
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number | undefined }
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

/** `platform config`: prints the settings in effect, with the source of each value. */
export function showConfig(context: CommandContext, options: ConfigOptions): void {
  context.stdout.write(describeConfig(configOf(context, options)))
}

/** Milliseconds of `--ttl`; throws `invalid` unless it is a duration that is allowed. */
export function parseLifetime(text: string, lifetime: typeof tokenLifetime): number {
  const lifetimeMs = lifetime.parse(text, '')
  if (lifetimeMs !== undefined) return lifetimeMs
  throw invalidField('--ttl', 'invalid', {
    reason: `expected ${lifetime.expected}, got ${JSON.stringify(text)}`,
  })
}

/** The record of a command in the audit trail: by whoever has logged in on this host. */
export function commandRecord(
  { env }: Pick<CommandContext, 'env'>,
  command: string,
  target: AuditRecord['target'],
  changes: AuditRecord['changes'] = {},
): AuditRecord {
  const actor = { id: COMMAND_LINE, name: env['SUDO_USER'] ?? loginName(), kind: 'local' } as const
  const origin = { requestId: null, remoteAddress: null }
  return { actor, operation: `cli.${command}`, target, ...origin, changes, outcome: 'done' }
}

/** A user of a container may have no name. */
function loginName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.geteuid?.() ?? COMMAND_LINE)
  }
}

const SILENT = { logger: silentLogger, metrics: noMetrics }

/** Runs `use` with the configured database, without migrating it. A missing database is created only with `create`. */
export async function withDatabase<T>(
  loaded: LoadedConfig,
  use: (store: Store) => Promise<T>,
  { create = false } = {},
): Promise<T> {
  const requirement = create ? {} : { mustExist: databaseSetting(loaded) }
  const { config, file: configFile } = loaded
  return useAndClose(loaded, await openDatabase({ config, configFile, ...SILENT, ...requirement }), use)
}

/** Runs `use` with the configured database, which must exist and is migrated to the current schema. */
export async function withStore<T>(loaded: LoadedConfig, use: (store: Store) => Promise<T>): Promise<T> {
  const { config, file: configFile } = loaded
  const parts = { config, configFile, ...SILENT, mustExist: databaseSetting(loaded) }
  return useAndClose(loaded, await openCurrentDatabase(parts), use)
}

/** The setting that determines the database, with its source: `data_dir: default`. */
export function databaseSetting({ settings }: LoadedConfig): string {
  const sourceOf = (key: string) => settings.find((setting) => setting.key === key)?.source ?? 'default'
  const key = sourceOf('database.url') === 'default' ? 'data_dir' : 'database.url'
  return `${key}: ${sourceOf(key)}`
}

async function useAndClose<T>(
  { config, file: configFile }: LoadedConfig,
  store: Store,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  try {
    return await use(store)
  } catch (error) {
    throw explainRefusal({ ...config, configFile }, error)
  } finally {
    await store.close()
  }
}

const AFTER_MS = 2 * SECOND
const EVERY_MS = SECOND / 4
const CLEAR_LINE = '\r\u001b[K'

/** Awaits a step of a command; on a terminal one line shows the step (`what`, asked again each time if it is a function) and its time once it takes longer than two seconds. */
export async function withProgress<T>(
  { stderr }: CommandContext,
  what: string | (() => string),
  step: Promise<T>,
): Promise<T> {
  if (!stderr.isTTY) return step
  const begin = performance.now()
  const show = () => {
    const elapsedMs = performance.now() - begin
    if (elapsedMs < AFTER_MS) return
    const text = typeof what === 'string' ? what : what()
    stderr.write(`${CLEAR_LINE}${text}: ${Math.floor(elapsedMs / SECOND)} s`)
  }
  const timer = setInterval(show, EVERY_MS)
  try {
    return await step
  } finally {
    clearInterval(timer)
    if (performance.now() - begin >= AFTER_MS) stderr.write(CLEAR_LINE)
  }
}

/** Resolves with the first SIGTERM or SIGINT; later ones have no effect. */
export function stopSignal(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal))
  return promise
}
