import type { Msg } from '@nats-io/transport-node'
import type { PublishResult } from '../../kernel/bus.ts'
import { DELIVERED, failed, refused } from './batch.ts'

/** What a stream would say again however often it is asked (nats-server, errors.json). */
const FINAL_ERRORS: ReadonlySet<number> = new Set([
  10054, // message size exceeds maximum allowed
  10097, // header size exceeds maximum allowed of 64k
])

interface PubAck {
  readonly stream?: unknown
  readonly error?: { readonly err_code?: number; readonly description?: string }
}

/**
 * What an answer to a published message says. `no_stream`: nobody listens on the subject, so no stream covers it.
 * `unrelated`: a subscriber of the subject answered, not a stream.
 */
export function readAck(answer: Msg): PublishResult | 'no_stream' | 'unrelated' {
  if (answer.data.length === 0 && answer.headers?.code === 503) return 'no_stream'
  const ack = parseAck(answer)
  if (ack?.error) return toDelivery(ack.error)
  return typeof ack?.stream === 'string' && ack.stream !== '' ? DELIVERED : 'unrelated'
}

function parseAck(answer: Msg): PubAck | undefined {
  try {
    const body = answer.json<PubAck | null>()
    return typeof body === 'object' && body !== null ? body : undefined
  } catch {
    return undefined
  }
}

function toDelivery({
  err_code: code = 0,
  description = 'error',
}: NonNullable<PubAck['error']>): PublishResult {
  const reason = `JetStream: ${description} (${code})`
  return FINAL_ERRORS.has(code) ? refused(reason) : failed(reason)
}
