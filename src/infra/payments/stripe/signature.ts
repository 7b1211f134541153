import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { SECOND } from '../../../kernel/time.ts'
import { BadSignature } from '../../../ports/payments.ts'

// https://docs.stripe.com/webhooks#verify-manually
const MAXIMUM_AGE_MS = 300 * SECOND
const HEADER = 'stripe-signature'

/**
 * Checks the signature of a callback: one of its signatures is of one of the secrets.
 *
 * @throws BadSignature
 */
export function verifySignature(
  headers: IncomingHttpHeaders,
  body: Buffer,
  { secrets, now }: { readonly secrets: readonly string[]; readonly now: number },
): void {
  const header = headers[HEADER]
  const { time, signatures } = parseHeader(typeof header === 'string' ? header : '')
  if (time === undefined || signatures.length === 0)
    throw new BadSignature(`${HEADER} is missing or malformed`)
  const expected = secrets.map((secret) =>
    createHmac('sha256', secret).update(`${time}.`).update(body).digest(),
  )
  if (!signatures.some((given) => expected.some((each) => timingSafeEqual(each, given))))
    throw new BadSignature(`${HEADER} is not of a secret in STRIPE_WEBHOOK_SECRET`)
  if (now - Number(time) * SECOND > MAXIMUM_AGE_MS)
    throw new BadSignature(`${HEADER} is older than ${MAXIMUM_AGE_MS / SECOND} s`)
}

function parseHeader(header: string): { time: string | undefined; signatures: readonly Buffer[] } {
  const parts = header.split(',').map((part) => part.trim())
  const time = parts.find((part) => /^t=\d{1,12}$/.test(part))?.slice(2)
  const signatures = parts
    .filter((part) => /^v1=[0-9a-f]{64}$/.test(part))
    .map((part) => Buffer.from(part.slice(3), 'hex'))
  return { time, signatures }
}
