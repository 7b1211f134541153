import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from '../../kernel/logger.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { isRecording, recordSpan } from '../../kernel/trace.ts'
import type { ConnectionLimits } from '../connections/connection-limits.ts'
import { peerAddress, type ClientAddress } from './client-address.ts'
import { pathOf } from './request.ts'

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

// An attacker chooses the path of a request that no route matches.
const PATH_LIMIT = 256
const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx']

export interface RecordOptions {
  readonly logger: Logger
  readonly metrics: Metrics
  readonly clientAddress?: ClientAddress
  readonly limits: Pick<ConnectionLimits, 'wasCut'>
  readonly countFault: CountClientFault
}

/**
 * Writes a log line and metrics for each request at its end: when the response is sent, or when the client has left. Never
 * logs the query, which may contain secrets.
 */
export function recordRequests(app: FastifyInstance, options: RecordOptions): void {
  const { logger, clientAddress = peerAddress, limits, countFault } = options
  const measure = createMeasure(options.metrics)
  const record = (request: FastifyRequest, reply: FastifyReply, duration: number): void => {
    const { url: route, config } = request.routeOptions
    const isStream = isStreamed(reply)
    const status = outcomeOf(reply, isStream)
    if (status === CLIENT_LEFT) countFault(limits.wasCut(request.raw.socket) ? 'unread' : 'left')
    // A 503 of a probe is no failed request.
    if (!config.isProbe)
      // How long a client stays says nothing about the speed of the server.
      measure(request.method, route ?? 'none', status, isStream ? undefined : duration / 1_000)
    if (isRecording() && !config.isProbe && request.trace)
      recordSpan({
        name: `${request.method} ${route ?? 'none'}`,
        kind: 'server',
        trace: request.trace,
        durationMs: duration,
        attributes: {
          'http.request.method': request.method,
          'http.response.status_code': status,
          ...(route !== undefined && { 'http.route': route }),
          'request.id': request.id,
        },
        isFailed: status >= 500,
      })
    logger[config.isProbe ? 'debug' : 'info'](
      {
        request_id: request.id,
        trace_id: request.trace?.traceId,
        method: request.method,
        route: route ?? 'none',
        ...(route === undefined && { path: withoutSecret(pathOf(request)).slice(0, PATH_LIMIT) }),
        status,
        duration_ms: Math.round(duration * 100) / 100,
        caller: request.identity?.id ?? null,
        remote_address: clientAddress(request.raw),
      },
      'request',
    )
  }
  app.addHook('onRequest', (request, reply, done) => {
    // The framework measures only what has a hook for the response, which a client that leaves does not get.
    const begin = performance.now()
    reply.raw.once('close', () => record(request, reply, performance.now() - begin))
    done()
  })
}

/** A path that no route has, without the token of a heartbeat that may be in it. */
function withoutSecret(path: string): string {
  return path.replace(/^\/+ping\/.*/is, '/ping/…')
}

// No status of HTTP: that of nginx for a client that has left before it had its response.
const CLIENT_LEFT = 499

/** A client leaves a stream whenever it has seen enough. */
function outcomeOf({ raw, statusCode }: FastifyReply, isStream: boolean): number {
  return raw.writableFinished || isStream ? statusCode : CLIENT_LEFT
}

/** Whether a reply is a stream, of this process or one that a gateway passes on. */
function isStreamed(reply: FastifyReply): boolean {
  return reply.raw.headersSent && reply.statusCode < 300 && reply.getHeader('x-accel-buffering') === 'no'
}

/**
 * `left`: before the response was sent. `unread`: cut, because the client did not read. `not_http`: no well-formed request.
 * `timeout`: the request did not arrive in time.
 */
export type ClientFault = 'left' | 'unread' | 'not_http' | 'timeout'

export type CountClientFault = (fault: ClientFault) => void

const CLIENT_FAULTS: readonly ClientFault[] = ['left', 'unread', 'not_http', 'timeout']

export function createFaultCounter(metrics: Metrics): CountClientFault {
  const faults = metrics.counter({
    name: 'http_client_faults_total',
    help: 'Requests that their clients broke off: left, unread (the response), not_http, timeout.',
    labels: { reason: CLIENT_FAULTS },
  })
  return (reason) => faults.increment({ reason })
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
    labels: { class: STATUS_CLASSES },
  })
  return (method: string, route: string, status: number, duration: number | undefined): void => {
    if (duration !== undefined) seconds.observe(duration, { method, route, status: String(status) })
    responses.increment({ class: `${Math.trunc(status / 100)}xx` })
  }
}
