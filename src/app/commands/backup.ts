import { randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { isSea } from 'node:sea'
import {
  backupStatus,
  BackupParts,
  install,
  restore,
  retryBackup,
  runBackup,
  selfcheck,
  uninstall,
  type CommandResult,
} from '../../../programs/backup/index.ts'
import type { LoadedConfig } from '../../config/config.ts'
import { systemClock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Secret } from '../../kernel/secret.ts'
import { MINUTE } from '../../kernel/time.ts'
import { quickCheck } from '../../store/files/inspect-database.ts'
import { ownUrl } from '../own-listeners.ts'
import { openSpans } from '../spans.ts'
import { configOf, stopSignal, COMMAND_LINE, type CommandContext, type ConfigOptions } from './context.ts'
import { databaseFiles } from './database-files.ts'
import { withUsers, type UsersContext } from './user.ts'

interface BackupOptions extends ConfigOptions {
  readonly json?: boolean
}

type BackupCommand<O> = (parts: BackupParts, options: O) => CommandResult | Promise<CommandResult>

/** The subcommands of `platform backup` that take no argument, by their names. */
export const BACKUP_COMMANDS = {
  run: runBackup,
  retry: retryBackup,
  install,
  uninstall,
  selfcheck,
  status: backupStatus,
} as const
export type BackupCommands = typeof BACKUP_COMMANDS

/** `platform backup restore [id]` */
export function runRestore(
  context: CommandContext,
  backupId: string | undefined,
  options: BackupOptions & { readonly latest?: boolean; readonly into?: string },
): Promise<number> {
  // resolve() would turn an empty path into the working directory; so it stays empty, and the command refuses it.
  const into = options.into ? { into: resolve(context.cwd, options.into) } : {}
  return runBackupCommand(context, restore, { ...options, backupId, ...into })
}

/** Runs a subcommand of `platform backup` and resolves with its exit code. Only root may. */
export async function runBackupCommand<O extends BackupOptions>(
  context: CommandContext,
  command: BackupCommand<O>,
  options: O,
): Promise<number> {
  requireRoot()
  const loaded = configOf(context, options)
  const line = new ProgressLine(context)
  await using _spans = await openSpans(loaded.config, 'platform-backup')
  const stopping = new AbortController()
  void stopSignal().then(() => stopping.abort())
  using parts = new BackupParts({
    loaded,
    databases: databaseFiles(loaded.config.backup.database ?? loaded.config.database),
    selfcheck: selfcheckParts(loaded),
    program: installedProgram(context, loaded),
    clock: systemClock,
    print: (text) => line.print(text, options.json ? context.stderr : context.stdout),
    progress: (text) => line.show(text),
    signal: stopping.signal,
  })
  try {
    const { text, json, exitCode } = await command(parts, options)
    line.clear()
    context.stdout.write(options.json ? `${JSON.stringify(json)}\n` : text)
    return exitCode
  } finally {
    line.clear()
  }
}

/** Before anything is read: without root nothing may be touched. */
function requireRoot(): void {
  if (process.getuid?.() === 0) return
  throw new AppError('forbidden', 'root_required', 'platform backup needs root; run it with sudo.')
}

/** How a unit starts the program that runs now. */
function installedProgram({ cwd }: CommandContext, { file }: LoadedConfig) {
  const [, script = ''] = process.argv
  return {
    command: isSea() ? [process.execPath] : [process.execPath, lastingPath(script)],
    configFile: file === undefined ? undefined : resolve(cwd, file),
    workingDirectory: cwd,
  }
}

/** `npx` starts programs by a link in its cache, which does not last. */
function lastingPath(script: string): string {
  return basename(dirname(script)) === '.bin' ? realpathSync(script) : resolve(script)
}

const CLEAR = '\r\u001b[K'

/** One line on a terminal with what is being done; nothing elsewhere. */
class ProgressLine {
  readonly #stream: CommandContext['stderr']

  constructor({ stderr }: CommandContext) {
    this.#stream = stderr
  }

  show(text: string): void {
    if (this.#stream.isTTY) this.#stream.write(`${CLEAR}${text}`)
  }

  clear(): void {
    if (this.#stream.isTTY) this.#stream.write(CLEAR)
  }

  print(text: string, stream: CommandContext['stdout']): void {
    this.clear()
    stream.write(`${text}\n`)
  }
}

/** The user of the self-check: with the role that can do least, and a password that nobody knows. */
export const SELFCHECK_USER = 'backup-selfcheck'
const PASSWORD_BYTES = 48
const TOKEN_LIFETIME_MS = MINUTE

/** What the self-check of the nightly routine needs of the platform that is configured on this server. */
export function selfcheckParts(loaded: LoadedConfig) {
  const { database, modules, gateway, worker, api, readOnly } = loaded.config
  return {
    gatewayUrl:
      modules.includes('gateway') && gateway.tls.certFile === undefined ? ownUrl(gateway.listen) : undefined,
    hasWorker: modules.includes('worker'),
    // The api serves the metrics of a worker that runs in its process.
    workerUrls: [
      ...(worker.listen ? [worker.listen] : []),
      api.tls.certFile === undefined ? api.listen : api.localListen,
    ].map(ownUrl),
    isReadOnly: readOnly,
    signToken: () => signToken(loaded),
    checkDatabase: (signal: AbortSignal) => quickCheck(database, signal),
  }
}

/** A short-lived token for the gateway, which accepts only users that exist. */
function signToken(loaded: LoadedConfig): Promise<Secret> {
  return withUsers({ env: {} }, loaded, async (context) => {
    await ensureUser(context)
    const { token } = await context.auth.issueToken(SELFCHECK_USER, TOKEN_LIFETIME_MS)
    return token
  })
}

async function ensureUser({ change, users }: UsersContext): Promise<void> {
  if (await users.findByName(SELFCHECK_USER)) return
  const password = randomBytes(PASSWORD_BYTES).toString('base64url')
  const account = await users.prepareAccount({ name: SELFCHECK_USER, password, roles: ['auditor'] })
  const created = change('backup.selfcheck', undefined, (tx) => users.create(tx, account, COMMAND_LINE))
  await created.catch((error: unknown) => {
    // Another self-check was faster.
    if (!(error instanceof AppError) || error.code !== 'user_exists') throw error
  })
}
