import type { FastifyInstance } from 'fastify'
import type { Logger } from '../../kernel/logger.ts'
import type { Metrics } from '../../kernel/metrics.ts'

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Writes a line and a measurement for each answer: route, status, duration, caller. Never the query: it may tell. */
export function recordRequests(
  app: FastifyInstance,
  { logger, metrics }: { logger: Logger; metrics: Metrics },
): void {
  const seconds = metrics.histogram({
    name: 'http_request_seconds',
    help: 'Time from a request to the end of its answer, by route and status.',
    labels: ['method', 'route', 'status'],
    buckets: SECONDS,
  })
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none'
    const duration = reply.elapsedTime
    const status = reply.statusCode
    seconds.observe(duration / 1_000, { method: request.method, route, status: String(status) })
    logger.info(
      {
        request_id: request.id,
        method: request.method,
        route,
        status,
        duration_ms: Math.round(duration * 100) / 100,
        caller: request.identity?.id ?? null,
      },
      'request',
    )
    done()
  })
}
