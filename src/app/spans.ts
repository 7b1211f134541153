import { hostname } from 'node:os'
import type { Config } from '../config/config.ts'
import { VERSION } from './version.ts'

/** Sends the spans of this process to the collector of the configuration; without one the library is not even loaded. */
export async function openSpans(
  { telemetry: { otlpEndpoint } }: Config,
  service: 'platform' | 'platform-backup',
): Promise<AsyncDisposable | undefined> {
  if (otlpEndpoint === undefined) return undefined
  const { openSpanExport } = await import('../infra/traces/span-export.ts')
  return openSpanExport({
    endpoint: otlpEndpoint,
    resource: { 'service.name': service, 'service.version': VERSION, 'host.name': hostname() },
  })
}
