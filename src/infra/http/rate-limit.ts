import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { clientNetwork } from '../../kernel/addresses.ts'
import { AppError } from '../../kernel/errors.ts'
import { MINUTE, SECOND } from '../../kernel/time.ts'
import { peerAddress, type ClientAddress } from './client-address.ts'

/** Counts a call that is refused before it reaches an operation; returns the error for it: the fault, or 429. */
export type CountRefusal = (request: FastifyRequest, fault: Error) => Promise<Error>

/**
 * Limits the calls of each caller to the routes that are added after this. Returns the function that counts refused calls:
 * they are counted separately, because behind a proxy all clients have one address, and callers without a valid token must
 * not use up the limit of the others.
 */
export async function limitRate(
  app: FastifyInstance,
  perMinute: number,
  addressOf: ClientAddress = peerAddress,
): Promise<CountRefusal> {
  if (perMinute === 0) return async (_request, fault) => fault
  const callerOf = ({ identity, raw }: FastifyRequest) =>
    identity ? `user ${identity.id}` : `address ${clientNetwork(addressOf(raw))}`
  const limits = { max: perMinute, timeWindow: MINUTE, keyGenerator: callerOf }
  await app.register(rateLimit, {
    ...limits,
    errorResponseBuilder: (_request, { ttl }) => rateLimited(ttl),
    addHeaders: HEADERS,
    addHeadersOnExceeding: HEADERS,
  })
  // Before the handler for streams, which send their head themselves, and at the end for calls that are refused.
  app.addHook('preParsing', (_request, reply, payload, done) => {
    describeLimit(reply, perMinute)
    done(null, payload)
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    describeLimit(reply, perMinute)
    done(null, payload)
  })
  const count = app.createRateLimit(limits)
  return async (request, fault) => {
    const counted = await count(request)
    return !counted.isAllowed && counted.isExceeded ? rateLimited(counted.ttl) : fault
  }
}

const REMAINING = 'x-ratelimit-remaining'
const RESET = 'x-ratelimit-reset'
const HEADERS = { 'x-ratelimit-limit': false, [REMAINING]: true, [RESET]: true }
const WINDOW_SECONDS = MINUTE / SECOND

/** The package knows an older form of the headers (RateLimit header fields for HTTP, draft 10). */
function describeLimit(reply: FastifyReply, perMinute: number): void {
  const remaining = reply.getHeader(REMAINING)
  if (remaining === undefined) return
  const reset = reply.getHeader(RESET)
  reply.removeHeader(REMAINING).removeHeader(RESET)
  reply.header('ratelimit-policy', `"caller";q=${perMinute};w=${WINDOW_SECONDS}`)
  reply.header('ratelimit', `"caller";r=${String(remaining)};t=${String(reset)}`)
}

function rateLimited(waitMs: number): AppError {
  return new AppError('rate_limited', 'rate_limited', 'Too many calls in the last minute.', {
    retryAfterSeconds: waitMs / SECOND,
  })
}
