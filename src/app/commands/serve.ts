import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../../config/config.ts'
import { errorMessage } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import { SECOND } from '../../kernel/time.ts'
import { createLogger } from '../../infra/log/logger.ts'
import type { FirstAdmin } from '../modules/module.ts'
import { startPlatform, type Platform } from '../platform.ts'
import { VERSION } from '../version.ts'
import { configOf, type CommandContext, type ConfigOptions } from './context.ts'
import { stopSignal } from './stop-signal.ts'

// contract, section 1: close within 10 s
const STOP_PATIENCE_MS = 9 * SECOND
const BUS_PATIENCE_MS = 2 * SECOND

/** `platform serve`: runs the modules until a signal ends them. Resolves after an orderly stop. */
export async function serve(context: CommandContext, options: ConfigOptions): Promise<void> {
  const { config, file } = configOf(context, options)
  const { logger, flush } = createLogger(config.log)
  try {
    logger.info({ version: VERSION, modules: config.modules, config: file ?? 'defaults' }, 'starting')
    await Promise.race([uncaughtFault(logger), serveUntilSignal(context, config, logger)])
  } finally {
    flush()
  }
}

async function serveUntilSignal(context: CommandContext, config: Config, logger: Logger): Promise<void> {
  const stopped = stopSignal()
  const platform = await startPlatform({
    config,
    logger,
    onFirstAdmin: (admin) => announceAdmin(context, admin),
  })
  logger.info({}, 'started')
  const hint = setTimeout(() => hintAtBus(platform, logger), BUS_PATIENCE_MS)
  logger.info({ signal: await stopped }, 'stopping')
  clearTimeout(hint)
  await stopInTime(platform, logger)
}

/**
 * Rejects with the first error that nobody has caught. What it has left behind is not known, so the program goes no
 * further, and does not stop in order either: whatever was acknowledged is on disk.
 */
function uncaughtFault(logger: Logger): Promise<never> {
  return new Promise((_resolve, reject) => {
    process.once('uncaughtException', (error) => {
      logger.error({ error }, 'an error that nothing caught ends the program')
      reject(error)
    })
  })
}

async function stopInTime(platform: Platform, logger: Logger): Promise<void> {
  const inTime = await Promise.race([
    platform.stop().then(
      () => true,
      (error: unknown) => {
        logger.warn({ error: errorMessage(error) }, 'something did not close well')
        return true
      },
    ),
    sleep(STOP_PATIENCE_MS, false, { ref: false }),
  ])
  logger.info({}, inTime ? 'stopped' : 'stopped without waiting any longer for what was under way')
}

/** Once, on standard error: the log is kept, and a password has no business in it. */
function announceAdmin({ stderr }: CommandContext, { name, password }: FirstAdmin): void {
  stderr.write(
    `\nFirst start: made the user "${name}" with the password ${password.reveal()}\n` +
      `It is shown this once. To choose another: platform user passwd ${name}\n\n`,
  )
}

function hintAtBus({ busServers, busState }: Platform, logger: Logger): void {
  if (busState() === 'connected') return
  logger.warn(
    { bus: busServers, hint: 'nats-server -p 9996 -js' },
    'there is no message bus: everything works, and events wait until there is one; start one as the hint says',
  )
}
