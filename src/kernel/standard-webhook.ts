import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
// The specification recommends 24 to 64 bytes.
const SECRET_BYTES = 32
const SECRET = /^whsec_(?<key>[A-Za-z0-9+/]{32,88}={0,2})$/
const [MIN_KEY_BYTES, MAX_KEY_BYTES] = [24, 64]
const MS_PER_SECOND = 1_000

/** A new secret: `whsec_` and 32 random bytes in base64. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** Whether the text is `whsec_` and 24 to 64 bytes in base64. */
export function isWebhookSecret(text: string): boolean {
  const key = SECRET.exec(text)?.groups?.['key']
  if (key === undefined) return false
  const bytes = Buffer.from(key, 'base64')
  return bytes.toString('base64') === key && bytes.length >= MIN_KEY_BYTES && bytes.length <= MAX_KEY_BYTES
}

/** A message of which every attempt has the same `id`. */
export interface WebhookMessage {
  readonly id: string
  readonly body: string | Buffer
}

/**
 * The headers of one attempt at `now` (epoch milliseconds), with a signature of each secret: Standard Webhooks, Signature
 * scheme (symmetric). The secrets have the form of {@link isWebhookSecret}.
 */
export function webhookHeaders(
  secrets: readonly string[],
  now: number,
  { id, body }: WebhookMessage,
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const timestamp = String(Math.floor(now / MS_PER_SECOND))
  const signatures = secrets.map((secret) => {
    const mac = createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64'))
    return `v1,${mac.update(`${id}.${timestamp}.`).update(body).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
