import type { Config } from '../../../config/config.ts'
import { listenAddress } from '../../../config/address-types.ts'
import { endOf, ENDS_SOON_MS, readTls } from '../../../infra/http/tls-certificate.ts'
import { errorMessage } from '../../../kernel/errors.ts'
import { toRfc3339 } from '../../../kernel/time.ts'
import { isPlainForOthers } from '../../own-listeners.ts'
import { fault, fine, warning, type Check, type CheckFinding } from '../check.ts'

/** Whether passwords and tokens are encrypted on their way to other hosts, and for how long. */
export const tlsCheck: Check = {
  name: 'tls',
  run: async ({ loaded: { config }, clock }) =>
    (['api', 'gateway'] as const)
      .filter((module) => config.modules.includes(module))
      .map((module) => examine(config, module, clock.now())),
}

function examine(config: Config, module: 'api' | 'gateway', now: number): CheckFinding {
  const { listen, tls: files } = config[module]
  const subject = `${module}.listen ${listenAddress.format(listen)}`
  if (isPlainForOthers(config, module)) {
    const remedy = `set ${module}.tls.cert_file and ${module}.tls.key_file, or listen on a loopback address behind a proxy`
    return warning(subject, 'passwords and tokens cross the network without TLS', remedy)
  }
  try {
    const context = readTls(`${module}.tls`, files)
    if (!context) return fine(subject, 'without TLS, on a loopback address or behind a proxy')
    const end = endOf(context)
    const detail = `its certificate ends at ${toRfc3339(end)}`
    if (end - now > ENDS_SOON_MS) return fine(subject, detail)
    const found = end <= now ? fault : warning
    return found(
      subject,
      detail,
      `replace ${module}.tls.cert_file and its key; they are read again by themselves`,
    )
  } catch (error) {
    return fault(subject, errorMessage(error), 'put a certificate and its key there')
  }
}
