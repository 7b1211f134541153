import { listenAddress, type ListenAddress } from '../../config/address-types.ts'
import type { Environment } from '../../config/env.ts'
import type { ModuleName } from '../../config/value-types.ts'
import type { HttpServer } from '../../infra/http/server.ts'
import { TlsCertificate, type TlsContext } from '../../infra/http/tls-certificate.ts'
import { systemClock } from '../../kernel/clock.ts'
import { AppError, errorMessage, errorCode } from '../../kernel/errors.ts'
import type { Secret } from '../../kernel/secret.ts'
import type { Base } from '../base.ts'
import { ERROR_CODES, EVENT_TYPES, runnersOf, jobsOf } from '../domains.ts'
import { isPlainForOthers } from '../own-listeners.ts'
import { VERSION } from '../version.ts'
import type { Job } from '../../kernel/job.ts'

export interface FirstAdmin {
  readonly name: string
  readonly password: Secret
}

/** The parameters of {@link OpenModule}. */
export interface ModuleContext extends Base {
  readonly env: Environment
  /** Closes what the module opens. */
  readonly resources: AsyncDisposableStack
  /** The URL of each listener by its module; the modules are opened one after the other. */
  readonly addresses: Partial<Record<ModuleName, string>>
  /** Where a gateway of this process reaches an api that has TLS. */
  readonly localApi: { url?: string }
  /** Called once, when the first start has created the first user. */
  readonly onFirstAdmin: (admin: FirstAdmin) => void
}

/** Opens a module; returns its jobs. */
export type OpenModule = (context: ModuleContext) => Promise<Job[]>

/** Starts the runners of all domains that the module runs. */
export function startRunners(
  { config, domains, resources }: ModuleContext,
  module: Parameters<typeof runnersOf>[1],
): void {
  // A read-only process cannot claim work.
  if (config.readOnly) return
  for (const runner of runnersOf(domains, module)) {
    resources.defer(() => runner.stop())
    runner.start()
  }
}

/** The HTTP options that are the same for all modules. */
export function httpOptions({ config, logger, metrics }: Base, module: ModuleName) {
  return {
    logger: logger.child({ module }),
    metrics,
    version: VERSION,
    readOnly: config.readOnly,
    rateLimitPerMinute: config.api.rateLimitPerMinute,
    corsOrigins: config.api.corsOrigins,
    documentFacts: { errors: ERROR_CODES, events: EVENT_TYPES },
  }
}

/** Starts the server of a module at the address of its setting `<module>.listen`; returns `host:port`. */
export async function listen(
  { config, logger, resources, addresses }: ModuleContext,
  module: ModuleName,
  server: HttpServer,
  wanted: ListenAddress,
  tls?: TlsContext,
): Promise<string> {
  resources.defer(() => server.close())
  const address = await server.listen(wanted).catch((cause: unknown) => {
    throw listenFailure(`${module}.listen`, wanted, cause)
  })
  addresses[module] = `${tls ? 'https' : 'http'}://${address}`
  if (tls && module !== 'worker') {
    const options = { setting: `${module}.tls`, files: config[module].tls, clock: systemClock, logger }
    resources.use(new TlsCertificate(tls, { ...options, use: (context) => server.useCertificate(context) }))
  }
  if (isPlainForOthers(config, module)) logger.warn({ setting: `${module}.listen`, address }, PLAIN)
  logger.info({ module, address }, 'listening')
  return address
}

const PLAIN =
  'passwords and tokens cross the network without TLS: set the certificate, or listen on a loopback address behind a proxy'

/** Says which setting to change, and why. */
export function listenFailure(setting: string, wanted: ListenAddress, cause: unknown): AppError {
  // Its message names another setting, which is the cause.
  if (cause instanceof AppError) return cause
  const code = errorCode(cause) ?? ''
  const { reason, remedy } = LISTEN_FAILURES[code] ?? {
    reason: errorMessage(cause),
    remedy: 'remove the cause',
  }
  const message = `${setting}: cannot listen on ${listenAddress.format(wanted)}: ${reason} (${code}); ${remedy}, or change ${setting}.`
  return new AppError('unavailable', 'listen_failed', message, { cause })
}

/** Why a server cannot listen, and what to do. */
interface ListenFailure {
  readonly reason: string
  /** Completes the sentence "… or change the setting". */
  readonly remedy: string
}

/** By the code of the error. */
export const LISTEN_FAILURES: Readonly<Record<string, ListenFailure>> = {
  EADDRINUSE: { reason: 'another program uses this port', remedy: 'end that program (ss -ltnp shows it)' },
  EADDRNOTAVAIL: {
    reason: 'this host does not have this address',
    remedy: 'give the host this address (ip address shows those that it has)',
  },
  EACCES: {
    reason: 'this port needs privileges',
    remedy: 'let a reverse proxy listen on this port',
  },
}

/** The background jobs and runners, and health and metrics of a process that runs nothing else. */
export async function openWorker(context: ModuleContext): Promise<Job[]> {
  const { config, operations, domains } = context
  if (config.worker.listen) {
    const { createHttpServer } = await import('../../infra/http/server.ts')
    const server = await createHttpServer({
      ...httpOptions(context, 'worker'),
      routes: operations,
      identify: () => undefined,
    })
    await listen(context, 'worker', server, config.worker.listen)
  }
  startRunners(context, 'worker')
  return jobsOf(domains, 'worker')
}
