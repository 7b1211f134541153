import { setTimeout as sleep } from 'node:timers/promises'
import { SpanKind, SpanStatusCode, TraceFlags, type HrTime, type SpanContext } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes, type Resource } from '@opentelemetry/resources'
import { BatchSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace'
import { SECOND } from '../../kernel/time.ts'
import { recordSpans, type TraceSpan, type Trace } from '../../kernel/trace.ts'

export interface SpanExportOptions {
  /** The address of the collector, without the path of the signal. */
  readonly endpoint: string
  /** Attributes of everything that is sent, such as `service.name`. */
  readonly resource: Readonly<Record<string, string>>
}

// In spans. When the collector is too slow, further spans are lost.
const QUEUE = 2_048
const BATCH = 512
// At the end all spans that wait are sent, besides one batch that is on its way.
const MAX_CALLS = QUEUE / BATCH + 1
const DELAY_MS = SECOND
const TIMEOUT_MS = 5 * SECOND
// A collector that hangs must not delay the end of the program.
const CLOSE_MS = SECOND
const KINDS: Readonly<Record<TraceSpan['kind'], SpanKind>> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
}
const SCOPE = { name: 'platform' }

/**
 * Sends the spans of this process to a collector, as OTLP over HTTP in JSON. Spans wait in a queue of fixed length: those of
 * a slow or absent collector are dropped, and nothing waits for them.
 */
export function openSpanExport({ endpoint, resource }: SpanExportOptions): AsyncDisposable {
  const exporter = new OTLPTraceExporter({
    url: tracesUrl(endpoint),
    timeoutMillis: TIMEOUT_MS,
    concurrencyLimit: MAX_CALLS,
  })
  const processor = new BatchSpanProcessor({
    exporter,
    maxQueueSize: QUEUE,
    maxExportBatchSize: BATCH,
    scheduledDelayMillis: DELAY_MS,
    exportTimeoutMillis: TIMEOUT_MS,
  })
  const attributes = resourceFromAttributes(resource)
  recordSpans((span) => processor.onEnd(readable(span, attributes)))
  return {
    async [Symbol.asyncDispose]() {
      recordSpans(undefined)
      const sent = processor.shutdown().catch(() => undefined)
      await Promise.race([sent, sleep(CLOSE_MS, undefined, { ref: false })])
    },
  }
}

function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint)
  if (!url.pathname.endsWith('/v1/traces')) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`
  return url.href
}

function readable(
  { name, kind, trace, startedAt, durationMs, attributes, isFailed }: TraceSpan,
  resource: Resource,
): ReadableSpan {
  const parent = trace.parentId === undefined ? {} : { parentSpanContext: contextOf(trace, trace.parentId) }
  return {
    name,
    kind: KINDS[kind],
    spanContext: () => contextOf(trace, trace.spanId),
    ...parent,
    startTime: hrTime(startedAt),
    endTime: hrTime(startedAt + durationMs),
    duration: hrTime(durationMs),
    status: { code: isFailed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes: { ...attributes },
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

function contextOf({ traceId }: Trace, spanId: string): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED }
}

/** Seconds and nanoseconds. */
function hrTime(milliseconds: number): HrTime {
  const seconds = Math.trunc(milliseconds / SECOND)
  return [seconds, Math.round((milliseconds - seconds * SECOND) * 1e6)]
}
