import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config, LoadedConfig } from '../../config/config.ts'
import { isEmptyFile } from '../../config/toml-file.ts'
import { errorMessage } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import { SECOND } from '../../kernel/time.ts'
import { isJournal } from '../../config/journal.ts'
import { createLogger } from '../../infra/log/logger.ts'
import type { FirstAdmin } from '../modules/module.ts'
import { startPlatform, type Platform } from '../platform.ts'
import { COMMIT, VERSION } from '../version.ts'
import { busRemedy } from './bus-hint.ts'
import { configOf, type CommandContext, type ConfigOptions, stopSignal } from './context.ts'
import { connectServiceManager } from './service-manager.ts'
import { releaseStartMemory } from './start-memory.ts'

const STOP_LIMIT_MS = 9 * SECOND // docs/specification.md, Limits: a process ends within 10 s
const BUS_CONNECT_MS = 2 * SECOND
/** The first run of each job, and the connection to the bus. */
const START_WORK_MS = SECOND

const EMPTY_FILE =
  'the configuration file is empty, so every setting has its default: put your copy back, or remove the file'

/** `platform serve`: runs the modules until SIGTERM or SIGINT. Resolves after an orderly stop. */
export async function serve(context: CommandContext, options: ConfigOptions): Promise<void> {
  const loaded = configOf(context, options)
  const { config, file } = loaded
  const { logger, flush } = createLogger({ ...config.log, priorities: isJournal(context.env, 1) })
  try {
    const { modules, readOnly: read_only } = config
    const build = { version: VERSION, commit: COMMIT }
    logger.info({ ...build, modules, read_only, config: file ?? 'defaults' }, 'starting')
    if (file !== undefined && isEmptyFile(resolve(context.cwd, file)))
      logger.warn({ config: file }, EMPTY_FILE)
    await Promise.race([uncaughtError(logger), serveUntilSignal(context, loaded, logger)])
  } finally {
    flush()
  }
}

async function serveUntilSignal(
  context: CommandContext,
  loaded: LoadedConfig,
  logger: Logger,
): Promise<void> {
  using serviceManager = connectServiceManager(context.env, logger)
  const stopped = stopSignal()
  surviveHangup(logger)
  const platform = await start(context, loaded, logger)
  logger.info({ addresses: platform.addresses }, 'started')
  serviceManager.ready()
  const busCheck = setTimeout(() => warnWithoutBus(platform, loaded.config, logger), BUS_CONNECT_MS)
  const release = setTimeout(releaseStartMemory, START_WORK_MS)
  logger.info({ signal: await stopped }, 'stopping')
  serviceManager.stopping()
  clearTimeout(busCheck)
  clearTimeout(release)
  await stopInTime(platform, logger)
}

/**
 * Keeps the process alive on SIGHUP, whose sender wants files to be read again; by default the signal would end the
 * program.
 */
function surviveHangup(logger: Logger): void {
  process.on('SIGHUP', () =>
    logger.info({}, 'SIGHUP: certificates are read again; a changed configuration needs a restart'),
  )
}

/** A failed start is logged too: an operator searches the service's journal for JSON lines, not for standard error. */
async function start(
  context: CommandContext,
  { config, settings, file }: LoadedConfig,
  logger: Logger,
): Promise<Platform> {
  try {
    const onFirstAdmin = (admin: FirstAdmin) => announceAdmin(context, admin)
    const configFile = file && resolve(context.cwd, file)
    return await startPlatform({ config, settings, configFile, logger, env: context.env, onFirstAdmin })
  } catch (error) {
    logger.error({ reason: errorMessage(error) }, 'start failed')
    throw error
  }
}

/**
 * Rejects with the first uncaught error. The state of the program is unknown then, so it ends without an orderly stop;
 * everything that was acknowledged is on disk.
 */
function uncaughtError(logger: Logger): Promise<never> {
  return new Promise((_resolve, reject) => {
    process.once('uncaughtException', (error) => {
      logger.error({ error }, 'uncaught error: the program ends')
      reject(error)
    })
  })
}

async function stopInTime(platform: Platform, logger: Logger): Promise<void> {
  const closed = platform.stop().then(
    () => 'stopped',
    (error: unknown) => {
      logger.warn({ error: errorMessage(error) }, 'error while stopping')
      return 'stopped'
    },
  )
  const late = sleep(STOP_LIMIT_MS, 'stopped at the time limit, with work still in progress', { ref: false })
  logger.info({}, await Promise.race([closed, late]))
}

/** On standard error only: the log must not contain a password. */
function announceAdmin({ stderr }: CommandContext, { name, password }: FirstAdmin): void {
  stderr.write(
    `\nFirst start: created the user "${name}" with the password ${password.reveal()}\n` +
      `It is shown only once. To set another one: platform user passwd ${name}\n\n`,
  )
}

function warnWithoutBus({ bus }: Platform, config: Config, logger: Logger): void {
  if (bus.state === 'connected') return
  const { text, urls } = config.bus.server
  const fields = { bus: text, reason: bus.problem, hint: busRemedy(urls.reveal(), bus.problem) }
  logger.warn(
    fields,
    'not connected to the message bus: the platform works, and stores events until it is connected',
  )
}
