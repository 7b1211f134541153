import { Changes } from '../../infra/http/changes.ts'
import { createClientAddress } from '../../infra/http/client-address.ts'
import { createIdentify } from '../../infra/http/identity.ts'
import { createHttpServer } from '../../infra/http/server.ts'
import { systemClock } from '../../kernel/clock.ts'
import type { Job } from '../../kernel/job.ts'
import { HOUR } from '../../kernel/time.ts'
import { DatabaseIdempotencyKeys } from '../../store/idempotency-keys.ts'
import { jobsOf, jwtSecret, routesOf } from '../domains.ts'
import { httpOptions, listen, type ModuleContext } from './module.ts'

// Deleting in batches lets other writes in between.
const PRUNE_BATCH = 1_000

/** The HTTP API. */
export async function openApi(context: ModuleContext): Promise<Job[]> {
  const { config, store, operations, domains } = context
  const { trustedProxies } = config.auth
  const { authenticator } = domains.users
  const keys = new DatabaseIdempotencyKeys({ store, clock: systemClock, secret: jwtSecret(config) })
  const server = await createHttpServer({
    ...httpOptions(context, 'api'),
    changes: new Changes({ store, keys }),
    routes: [...routesOf(domains), ...operations],
    identify: createIdentify({ authenticator, trustedProxies }),
    authenticator,
    clientAddress: createClientAddress(trustedProxies),
  })
  await listen(context, 'api', server, config.api.listen)
  return [...jobsOf(domains, 'api'), idempotencyPruneJob(keys)]
}

function idempotencyPruneJob(keys: DatabaseIdempotencyKeys): Job {
  return {
    name: 'idempotency-prune',
    everyMs: HOUR,
    async run(signal) {
      while (!signal.aborted && (await keys.prune(PRUNE_BATCH)) === PRUNE_BATCH);
    },
  }
}
