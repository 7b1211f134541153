import { createServer } from 'node:net'
import { listenAddress, type ListenAddress } from '../../../config/address-types.ts'
import { SECOND } from '../../../kernel/time.ts'
import { listenersOf, readOwn, type OwnListener } from '../../own-listeners.ts'
import { LISTEN_FAILURES } from '../../modules/module.ts'
import { fault, fine, skipped, type Check, type CheckFinding } from '../check.ts'

const ANSWER_MS = 2 * SECOND

/** Each address is free, or the platform itself listens there. */
export const portsCheck: Check = {
  name: 'ports',
  run: ({ loaded: { config } }) => Promise.all(listenersOf(config).map(examine)),
}

async function examine(listener: OwnListener): Promise<CheckFinding> {
  const { setting, address } = listener
  const subject = `${setting} ${listenAddress.format(address)}`
  if (address.port === 0) return skipped(subject, 'the system chooses a port at the start')
  const running = await platformAt(listener)
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
async function platformAt(listener: OwnListener): Promise<string | undefined> {
  try {
    const { version, modules, status } = (await readOwn(listener, '/health', ANSWER_MS)) as HealthAnswer
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
