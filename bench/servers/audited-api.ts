// The api of the platform with its audit trail, or without it, which no setting allows: `audited` or `bare`.
import { createLogger } from '../../src/infra/log/logger.ts'
import { Changes } from '../../src/infra/http/changes.ts'
import { createHttpServer } from '../../src/infra/http/server.ts'
import { openBase } from '../../src/app/base.ts'
import { jwtSecrets } from '../../src/app/signing-keys.ts'
import { routesOf } from '../../src/app/domains.ts'
import { httpOptions } from '../../src/app/modules/module.ts'
import { loadConfig } from '../../src/config/config.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { DatabaseIdempotencyKeys } from '../../src/store/idempotency-keys.ts'

const [, , kind = 'audited'] = process.argv

await using resources = new AsyncDisposableStack()
const { config, settings, file: configFile } = loadConfig({ env: process.env, cwd: process.cwd() })
const { logger } = createLogger(config.log)
const base = await openBase({ config, settings, configFile, logger }, resources)
const { store, domains } = base
const keys = new DatabaseIdempotencyKeys({ store, clock: systemClock, secrets: jwtSecrets(config) })
const server = await createHttpServer({
  ...httpOptions(base, 'api'),
  changes: new Changes({ store, keys }),
  ...(kind === 'audited' && { audit: domains.audit.service }),
  routes: routesOf(domains),
  identify: () => ({ id: 'bench', name: 'bench', roles: ['admin'], via: 'headers' }),
})
resources.defer(() => server.close())
await server.listen(config.api.listen)
await new Promise((resolve) => process.once('SIGTERM', resolve))
