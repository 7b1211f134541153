import { messagePruneJob } from '../../domains/messages/index.ts'
import { orderTimeoutJob } from '../../domains/orders/index.ts'
import { vpnPruneJob, vpnUpkeepJob } from '../../domains/vpn/index.ts'
import { createHttpServer } from '../../infra/http/server.ts'
import { systemClock } from '../../kernel/clock.ts'
import type { Job } from '../../kernel/job.ts'
import { createDomains } from '../domains.ts'
import { httpOptions, listen, type ModuleContext } from './module.ts'

/** What is done again and again. */
export async function openWorker(context: ModuleContext): Promise<Job[]> {
  const { config, operations } = context
  const { messages, orders, vpn } = createDomains({ ...context, clock: systemClock, module: 'worker' })
  if (config.worker.listen) {
    const server = await createHttpServer({
      ...httpOptions(context),
      routes: operations,
      identify: () => undefined,
    })
    await listen(context, 'worker', server, config.worker.listen)
  }
  return [
    orderTimeoutJob(orders, config.worker.orderScanMs),
    messagePruneJob(messages, systemClock, config.messages.keepMs),
    vpnUpkeepJob(vpn),
    vpnPruneJob(vpn, systemClock),
  ]
}
