import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
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
  await app.register(rateLimit, { global: false })
  const policy = `"caller";q=${perMinute};w=${MINUTE / SECOND}`
  const countCall = app.createRateLimit(limits)
  // The caller is known then, and the body is not read yet.
  app.addHook('preParsing', async (request, reply) => {
    if (request.is404 || request.routeOptions.config.isProbe) return
    const counted = await countCall(request)
    if (counted.isAllowed) return
    // RateLimit header fields for HTTP, draft 10; the package writes those of an older one.
    reply.header('ratelimit-policy', policy)
    reply.header('ratelimit', `"caller";r=${counted.remaining};t=${counted.ttlInSeconds}`)
    if (counted.isExceeded) throw rateLimited(counted.ttl)
  })
  const countRefused = app.createRateLimit(limits)
  return async (request, fault) => {
    const counted = await countRefused(request)
    return !counted.isAllowed && counted.isExceeded ? rateLimited(counted.ttl) : fault
  }
}

function rateLimited(waitMs: number): AppError {
  return new AppError('rate_limited', 'rate_limited', 'Too many calls in the last minute.', {
    retryAfterSeconds: waitMs / SECOND,
  })
}
