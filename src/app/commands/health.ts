import type { Config } from '../../config/config.ts'
import { AppError, errorMessage } from '../../kernel/errors.ts'
import { SECOND } from '../../kernel/time.ts'
import { listenersOf, ownUrl, readOwn, type OwnListener } from '../own-listeners.ts'
import { configOf, type CommandContext, type ConfigOptions } from './context.ts'

const PATH = '/health/ready'
const ANSWER_MS = 5 * SECOND

/** `platform health`: asks the platform with this configuration on this host whether it takes requests. */
export async function checkHealth(context: CommandContext, options: ConfigOptions): Promise<void> {
  const listener = listenerOf(configOf(context, options).config)
  const status = await statusAt(listener)
  if (status !== 'ready')
    throw new AppError('unavailable', 'not_ready', `${ownUrl(listener.address)}${PATH} answers: ${status}`)
  context.stdout.write(`${status}\n`)
}

/** Every listener of a process answers the same. */
function listenerOf(config: Config): OwnListener {
  const listener = listenersOf(config).find(({ address }) => address.port !== 0)
  if (listener) return listener
  const message =
    'No module has a listener with a fixed port: set api.listen, gateway.listen or worker.listen.'
  throw new AppError('invalid', 'no_listener', message)
}

async function statusAt(listener: OwnListener): Promise<string> {
  try {
    return ((await readOwn(listener, PATH, ANSWER_MS)) as { readonly status: string }).status
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    const reason = errorMessage(cause)
    throw new AppError('unavailable', 'not_ready', `${ownUrl(listener.address)} does not answer: ${reason}`, {
      cause,
    })
  }
}
