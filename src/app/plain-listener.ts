import type { Config } from '../config/config.ts'
import type { ModuleName } from '../config/value-types.ts'
import { isLoopbackHost } from '../kernel/loopback-host.ts'

/** Whether passwords and tokens of other hosts reach the module without TLS, and no proxy that ends it is configured. */
export function isPlainForOthers({ proxy, ...config }: Config, module: ModuleName): boolean {
  if (module === 'worker' || proxy.clientAddressFrom.length > 0) return false
  const { listen, tls } = config[module]
  return tls.certFile === undefined && !isLoopbackHost(listen.host)
}
