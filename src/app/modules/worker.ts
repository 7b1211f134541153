import { createHttpServer } from '../../infra/http/server.ts'
import type { Job } from '../../kernel/job.ts'
import { jobsOf } from '../domains.ts'
import { httpOptions, listen, startRunners, type ModuleContext } from './module.ts'

/** The background jobs and runners, and health and metrics of a process that runs nothing else. */
export async function openWorker(context: ModuleContext): Promise<Job[]> {
  const { config, operations, domains } = context
  if (config.worker.listen) {
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
