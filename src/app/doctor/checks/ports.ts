import { createServer } from 'node:net'
import { listenAddress, type ListenAddress } from '../../../config/address-types.ts'
import type { Config } from '../../../config/config.ts'
import { SECOND } from '../../../kernel/time.ts'
import { ownUrl } from '../../own-url.ts'
import { LISTEN_FAILURES } from '../../modules/listen-failures.ts'
import { fault, fine, skipped, type Check, type CheckFinding } from '../check.ts'

const ANSWER_MS = 2 * SECOND

/** Each address is free, or the platform itself listens there. */
export const portsCheck: Check = {
  name: 'ports',
  run: ({ loaded: { config } }) =>
    Promise.all(listenersOf(config).map(([setting, address]) => examine(setting, address))),
}

function listenersOf({ modules, api, gateway, worker }: Config): [setting: string, ListenAddress][] {
  const all: [module: Config['modules'][number], setting: string, address: ListenAddress | undefined][] = [
    ['api', 'api.listen', api.listen],
    ['gateway', 'gateway.listen', gateway.listen],
    ['worker', 'worker.listen', worker.listen],
  ]
  return all.flatMap(([module, setting, address]) =>
    address && modules.includes(module) ? [[setting, address]] : [],
  )
}

async function examine(setting: string, address: ListenAddress): Promise<CheckFinding> {
  const subject = `${setting} ${listenAddress.format(address)}`
  if (address.port === 0) return skipped(subject, 'the system chooses a port at the start')
  const running = await platformAt(address)
  if (running !== undefined) return fine(subject, `a platform answers: ${running}`)
  const code = await listenFailure(address)
  if (code === undefined) return fine(subject, 'free')
  const { reason, remedy } = LISTEN_FAILURES[code] ?? { reason: code, remedy: 'remove the cause' }
  return fault(subject, `${reason} (${code})`, `${remedy}, or change ${setting}`)
}

/** The part of `GET /health` that is shown. */
interface HealthAnswer {
  readonly version: string
  readonly modules?: readonly string[]
  readonly status: string
}

/** Release and modules of the platform that listens there; undefined if none does. */
async function platformAt(address: ListenAddress): Promise<string | undefined> {
  try {
    const response = await fetch(`${ownUrl(address)}/health`, { signal: AbortSignal.timeout(ANSWER_MS) })
    const { version, modules, status } = (await response.json()) as HealthAnswer
    return modules && `${version}, ${modules.join(', ')}, ${status}`
  } catch {
    return undefined
  }
}

/** Listens for a moment; resolves with the code of the error, undefined if there is none. */
function listenFailure({ host, port }: ListenAddress): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const server = createServer()
  server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  return promise
}
