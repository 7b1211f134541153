import type { Msg } from '@nats-io/transport-node'
import type { BusFault, PublishResult } from '../../kernel/bus.ts'
import { DELIVERED, failedResult, refusedResult } from './batch.ts'

/** Errors that a stream repeats for the same message at every attempt (nats-server, errors.json). */
const PERMANENT_ERRORS: ReadonlyMap<number, BusFault> = new Map([
  [10054, 'too_large'], // message size exceeds maximum allowed
  [10097, 'headers_too_large'], // header size exceeds maximum allowed of 64k
])

interface PubAck {
  readonly stream?: unknown
  readonly error?: { readonly err_code?: number; readonly description?: string }
}

/**
 * Reads the answer to a published message. `no_stream`: the subject has no subscriber, so no stream takes it.
 * `unrelated`: the answer comes from a subscriber of the subject, not from a stream.
 */
export function readAck(answer: Msg): PublishResult | 'no_stream' | 'unrelated' {
  if (answer.data.length === 0 && answer.headers?.code === 503) return 'no_stream'
  const ack = parseAck(answer)
  if (ack?.error) return errorResult(ack.error)
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

function errorResult({
  err_code: code = 0,
  description = 'error',
}: NonNullable<PubAck['error']>): PublishResult {
  const reason = `JetStream: ${description} (${code})`
  const fault = PERMANENT_ERRORS.get(code)
  return fault ? refusedResult(reason, fault) : failedResult(reason)
}
