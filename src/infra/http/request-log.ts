import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from '../../kernel/logger.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { peerAddress, type ClientAddress } from './client-address.ts'
import { pathOf } from './request-path.ts'

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

// An attacker chooses the path of a request that no route matches.
const PATH_LIMIT = 256
const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx']

export interface RecordOptions {
  readonly logger: Logger
  readonly metrics: Metrics
  readonly clientAddress?: ClientAddress
}

type RecordResponse = (request: FastifyRequest, reply: FastifyReply) => void

/**
 * Writes a log line and metrics for each response. Never logs the query, which may contain secrets. Returns the function
 * that does so, for a response that the framework does not see the end of.
 */
export function recordRequests(app: FastifyInstance, options: RecordOptions): RecordResponse {
  const { logger, clientAddress = peerAddress } = options
  const measure = createMeasure(options.metrics)
  const record: RecordResponse = (request, reply) => {
    const { elapsedTime: duration, statusCode: status } = reply
    const { url: route, config } = request.routeOptions
    // How long a client stays says nothing about the speed of the server.
    const isStream = config.isStream && status < 300
    // A 503 of a probe is no failed request.
    if (!config.isProbe)
      measure(request.method, route ?? 'none', status, isStream ? undefined : duration / 1_000)
    logger[config.isProbe ? 'debug' : 'info'](
      {
        request_id: request.id,
        method: request.method,
        route: route ?? 'none',
        ...(route === undefined && { path: pathOf(request).slice(0, PATH_LIMIT) }),
        status,
        duration_ms: Math.round(duration * 100) / 100,
        caller: request.identity?.id ?? null,
        remote_address: clientAddress(request.raw),
      },
      'request',
    )
  }
  app.addHook('onResponse', (request, reply, done) => {
    record(request, reply)
    done()
  })
  return record
}

function createMeasure(metrics: Metrics) {
  const seconds = metrics.histogram({
    name: 'http_request_seconds',
    help: 'Time from a request to the end of its response, by route and status.',
    labels: ['method', 'route', 'status'],
    buckets: SECONDS,
  })
  const responses = metrics.counter({
    name: 'http_responses_total',
    help: 'Responses by the class of their status: 2xx, 3xx, 4xx, 5xx.',
    labels: ['class'],
  })
  // Alarms compare with an earlier value, so each series exists from the start.
  for (const name of STATUS_CLASSES) responses.increment({ class: name }, 0)
  return (method: string, route: string, status: number, duration: number | undefined): void => {
    if (duration !== undefined) seconds.observe(duration, { method, route, status: String(status) })
    responses.increment({ class: `${Math.trunc(status / 100)}xx` })
  }
}
