import type { HttpServer } from '../../infra/http/server.ts'
import type { Job } from '../../kernel/job.ts'
import type { Secret } from '../../kernel/secret.ts'
import type { Base } from '../base.ts'
import { VERSION } from '../version.ts'

export interface FirstAdmin {
  readonly name: string
  readonly password: Secret
}

/** What a module is opened with. */
export interface ModuleContext extends Base {
  /** Closes what the module opens. */
  readonly opening: AsyncDisposableStack
  /** Called once, when the first start has created the first user. */
  readonly onFirstAdmin: (admin: FirstAdmin) => void
  /**
   * `http://host:port` of the api of the same process, as this host reaches it; set once it listens. The modules are opened
   * one after the other.
   */
  apiUrl: string | undefined
}

/** Opens a module; returns the jobs that it brings. */
export type OpenModule = (context: ModuleContext) => Promise<Job[]>

/** What the servers of all modules have in common. */
export function httpOptions({ config, logger, metrics }: Base) {
  return {
    logger,
    metrics,
    version: VERSION,
    readOnly: config.readOnly,
    rateLimitPerMinute: config.api.rateLimitPerMinute,
  }
}

/** Starts a server and logs its address; returns `host:port`. */
export async function listen(
  { logger, opening }: Pick<ModuleContext, 'logger' | 'opening'>,
  module: string,
  server: HttpServer,
  wanted: { host: string; port: number },
): Promise<string> {
  opening.defer(() => server.close())
  const address = await server.listen(wanted)
  logger.info({ module, address }, 'listening')
  return address
}
