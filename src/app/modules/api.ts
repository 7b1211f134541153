import { alertRoutes } from '../../domains/alerts/index.ts'
import { messageRoutes } from '../../domains/messages/index.ts'
import { orderCountJob, orderRoutes } from '../../domains/orders/index.ts'
import { createAuthenticator, userRoutes, type Users } from '../../domains/users/index.ts'
import { vpnPoolJob, vpnRoutes } from '../../domains/vpn/index.ts'
import { createClientAddress } from '../../infra/http/client-address.ts'
import { errorAnswer } from '../../infra/http/errors.ts'
import { createIdentify } from '../../infra/http/identity.ts'
import { createHttpServer } from '../../infra/http/server.ts'
import { systemClock } from '../../kernel/clock.ts'
import type { Job } from '../../kernel/job.ts'
import { HOUR } from '../../kernel/time.ts'
import { createOnce, type Once } from '../../store/once.ts'
import { createDomains } from '../domains.ts'
import { createIdentities, jwtSecret } from '../identities.ts'
import { httpOptions, listen, type ModuleContext } from './module.ts'

/** The HTTP API. */
export async function openApi(context: ModuleContext): Promise<Job[]> {
  const { config, logger, metrics, store, operations } = context
  const secret = jwtSecret(config)
  const once = createOnce({ store, clock: systemClock, secret, toAnswer: errorAnswer })
  const { messages, alerts, orders, vpn } = createDomains({
    ...context,
    store: once.store,
    clock: systemClock,
    module: 'api',
  })
  const { users, auth, tokens } = createIdentities({
    secret,
    tokenTtlMs: config.auth.tokenTtlMs,
    store: once.store,
    clock: systemClock,
    logger,
    metrics,
    sessions: vpn,
  })
  if (!config.readOnly) await makeFirstAdmin(users, context.onFirstAdmin)
  const authenticator = createAuthenticator({ store, clock: systemClock, users, tokens })
  const { trustedProxies } = config.auth
  const server = await createHttpServer({
    ...httpOptions(context),
    onceOnly: once,
    routes: [
      ...orderRoutes(orders),
      ...messageRoutes(messages),
      ...alertRoutes(alerts),
      ...userRoutes(users, auth),
      ...vpnRoutes(vpn),
      ...operations,
    ],
    identify: createIdentify({ authenticator, trustedProxies }),
    clientAddress: createClientAddress(trustedProxies),
  })
  const address = await listen(context, 'api', server, config.api.listen)
  context.api = { url: reachable(address), authenticator }
  return [orderCountJob(orders, metrics), vpnPoolJob(vpn, metrics), idempotencyPruneJob(once)]
}

async function makeFirstAdmin(users: Users, tell: ModuleContext['onFirstAdmin']): Promise<void> {
  const admin = await users.ensureFirstAdmin()
  if (admin) tell(admin)
}

/** Who listens on all addresses is called on the one that is nearest. */
function reachable(address: string): string {
  return `http://${address.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:')}`
}

function idempotencyPruneJob(once: Once): Job {
  return {
    name: 'idempotency-prune',
    everyMs: HOUR,
    run: async () => {
      await once.prune()
    },
  }
}
