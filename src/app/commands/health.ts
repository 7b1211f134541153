import type { ListenAddress } from '../../config/address-types.ts'
import type { Config } from '../../config/config.ts'
import { AppError, errorMessage } from '../../kernel/errors.ts'
import { SECOND } from '../../kernel/time.ts'
import { ownUrl } from '../own-url.ts'
import { configOf, type CommandContext, type ConfigOptions } from './context.ts'

const ANSWER_MS = 5 * SECOND

/** `platform health`: asks the platform with this configuration on this host whether it takes requests. */
export async function checkHealth(context: CommandContext, options: ConfigOptions): Promise<void> {
  const url = `${ownUrl(listenerOf(configOf(context, options).config))}/health/ready`
  const status = await statusAt(url)
  if (status !== 'ready') throw new AppError('unavailable', 'not_ready', `${url} answers: ${status}`)
  context.stdout.write(`${status}\n`)
}

/** Every listener of a process answers the same. */
function listenerOf({ modules, api, gateway, worker }: Config): ListenAddress {
  const listeners = { api: api.listen, gateway: gateway.listen, worker: worker.listen }
  const address = modules.map((module) => listeners[module]).find((each) => each && each.port !== 0)
  if (address) return address
  const message =
    'No module has a listener with a fixed port: set api.listen, gateway.listen or worker.listen.'
  throw new AppError('invalid', 'no_listener', message)
}

async function statusAt(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) })
    return ((await response.json()) as { readonly status: string }).status
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    const reason = errorMessage(cause)
    throw new AppError('unavailable', 'not_ready', `${url} does not answer: ${reason}`, { cause })
  }
}
