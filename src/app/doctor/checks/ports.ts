import { once } from 'node:events'
import { get } from 'node:https'
import { createServer } from 'node:net'
import { json } from 'node:stream/consumers'
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
    Promise.all(listenersOf(config).map(([setting, address, tls]) => examine(setting, address, tls))),
}

type Listener = readonly [setting: string, address: ListenAddress, tls: boolean]

function listenersOf({ modules, api, gateway, worker }: Config): Listener[] {
  const all: (readonly [
    module: Config['modules'][number],
    address: ListenAddress | undefined,
    tls: boolean,
  ])[] = [
    ['api', api.listen, api.tls.certFile !== undefined],
    ['gateway', gateway.listen, gateway.tls.certFile !== undefined],
    ['worker', worker.listen, false],
  ]
  return all.flatMap(([module, address, tls]): Listener[] =>
    address && modules.includes(module) ? [[`${module}.listen`, address, tls]] : [],
  )
}

async function examine(setting: string, address: ListenAddress, tls: boolean): Promise<CheckFinding> {
  const subject = `${setting} ${listenAddress.format(address)}`
  if (address.port === 0) return skipped(subject, 'the system chooses a port at the start')
  const running = await platformAt(address, tls)
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
async function platformAt(address: ListenAddress, tls: boolean): Promise<string | undefined> {
  try {
    const answer = await (tls ? readOverTls : readPlainly)(`${ownUrl(address)}/health`)
    const { version, modules, status } = answer as HealthAnswer
    return modules && `${version}, ${modules.join(', ')}, ${status}`
  } catch {
    return undefined
  }
}

async function readPlainly(url: string): Promise<unknown> {
  return (await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) })).json()
}

/** Only asks who uses the port: the certificate names no loopback address, and the check of TLS judges it. */
async function readOverTls(url: string): Promise<unknown> {
  const options = { rejectUnauthorized: false, agent: false, signal: AbortSignal.timeout(ANSWER_MS) }
  const [response] = await once(get(url.replace('http:', 'https:'), options), 'response')
  return json(response)
}

/** Listens for a moment; resolves with the code of the error, undefined if there is none. */
function listenFailure({ host, port }: ListenAddress): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const server = createServer()
  server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  return promise
}
