import { Changes } from '../../infra/http/changes.ts'
import { createClientAddress } from '../../infra/http/client-address.ts'
import { configRoute } from '../../infra/http/operations.ts'
import { consoleRoutes } from '../../infra/http/pages/pages.ts'
import { createIdentify } from '../../infra/http/identity.ts'
import { createHttpServer, type HttpServerOptions } from '../../infra/http/server.ts'
import { readTls } from '../../infra/http/tls-certificate.ts'
import { IdentitySignature, verifyOnce } from '../../infra/tokens/identity-signature.ts'
import { systemClock } from '../../kernel/clock.ts'
import { errorMessage } from '../../kernel/errors.ts'
import { runBatches, type Job } from '../../kernel/job.ts'
import { HOUR } from '../../kernel/time.ts'
import { DatabaseIdempotencyKeys } from '../../store/idempotency-keys.ts'
import { doctorRoute } from '../doctor/route.ts'
import { jobsOf, routesOf } from '../domains.ts'
import { jwtSecrets } from '../signing-keys.ts'
import { httpOptions, listen, listenFailure, startRunners, type ModuleContext } from './module.ts'
import type { ListenAddress } from '../../config/address-types.ts'
import type { Config } from '../../config/config.ts'
import { DEFAULT_REDIRECT_URI } from '../../config/schema.ts'

// Deleting in batches lets other writes in between.
const PRUNE_BATCH = 1_000

/** The HTTP API. */
export async function openApi(context: ModuleContext): Promise<Job[]> {
  const { config, settings, configFile: file, store, operations, domains } = context
  const { trustedProxies } = config.auth
  const { authenticator } = domains.users
  const signature = verifyOnce(new IdentitySignature(jwtSecrets(config), systemClock))
  const keys = new DatabaseIdempotencyKeys({ store, clock: systemClock, secrets: jwtSecrets(config) })
  const clientAddress = createClientAddress({
    proxies: config.proxy.clientAddressFrom,
    trustedPeers: trustedProxies,
    signature,
  })
  // Not at the start: it loads what nobody needs until then.
  const examineServer = async () => {
    const { doctorParts, examine } = await import('../doctor/doctor.ts')
    return examine(doctorParts({ config, settings, file }, context.env))
  }
  const doctor = doctorRoute(systemClock, examineServer)
  const options: HttpServerOptions = {
    ...httpOptions(context, 'api'),
    changes: new Changes({ store, keys }),
    audit: domains.audit.service,
    routes: [...routesOf(domains), configRoute({ settings, file }), doctor, ...operations],
    pages: consoleRoutes({ hasProvider: config.auth.oidc.issuer !== undefined }),
    identify: createIdentify({ authenticator, trustedProxies, signature, clientAddress }),
    authenticator,
    clientAddress,
  }
  const tls = readTls('api.tls', config.api.tls)
  await listen(context, 'api', await createHttpServer({ ...options, tls }), config.api.listen, tls)
  context.logger.info(
    { address: `${config.console.url ?? context.addresses.api}/console/` },
    'the console is ready',
  )
  if (tls) await listenLocally(context, options)
  await listenForSignIn(context, options)
  startRunners(context, 'api')
  return [...jobsOf(domains, 'api'), idempotencyPruneJob(keys)]
}

/** Programs of this host, and a gateway of this process, need no certificate with the name of a loopback address. */
async function listenLocally(context: ModuleContext, options: HttpServerOptions): Promise<void> {
  const server = await createHttpServer(options)
  context.resources.defer(() => server.close())
  const address = await server.listen(context.config.api.localListen).catch((cause: unknown) => {
    throw listenFailure('api.local_listen', context.config.api.localListen, cause)
  })
  context.localApi.url = `http://${address}`
  context.logger.info({ module: 'api', address }, 'listening for programs of this host')
}

/**
 * Serves the api also where the provider sends browsers back to by default. That another process of this platform does so
 * already is no reason not to start.
 */
async function listenForSignIn({ config, logger, resources }: ModuleContext, options: HttpServerOptions) {
  const wanted = signInAddress(config)
  if (!wanted) return
  const server = await createHttpServer(options)
  resources.defer(() => server.close())
  const fields = { setting: 'auth.oidc.redirect_uri', address: `${wanted.host}:${wanted.port}` }
  try {
    await server.listen(wanted)
    logger.info(fields, 'listening for sign-in')
  } catch (error) {
    const reason = errorMessage(error)
    logger.warn({ ...fields, reason }, 'cannot listen for sign-in; another process has to serve this address')
  }
}

function idempotencyPruneJob(keys: DatabaseIdempotencyKeys): Job {
  return {
    name: 'idempotency-prune',
    everyMs: HOUR,
    run: (signal) => runBatches(signal, async () => (await keys.prune(PRUNE_BATCH)) === PRUNE_BATCH),
  }
}

/**
 * Where the api listens besides its own address: where the provider sends browsers back to, when that is the default of the
 * setting and no listener of this process has it. With any other address the administrator decides what serves it.
 */
export function signInAddress({ modules, api, gateway, auth }: Config): ListenAddress | undefined {
  const { issuer, redirectUri } = auth.oidc
  if (issuer === undefined || redirectUri !== DEFAULT_REDIRECT_URI) return undefined
  const { hostname: host, port } = new URL(redirectUri)
  const listeners = [api.listen, ...(modules.includes('gateway') ? [gateway.listen] : [])]
  return listeners.some((listener) => listener.port === Number(port))
    ? undefined
    : { host, port: Number(port) }
}
