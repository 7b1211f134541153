import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../../kernel/clock.ts'
import type { RotatedKeys, Secret } from '../../kernel/secret.ts'
import { SECOND } from '../../kernel/time.ts'

/** The header of the signature; removed from the requests of clients. */
export const SIGNATURE_HEADER = 'x-identity-signature'

/** What is signed: whom the request is for, and where it comes from. */
const SIGNED_HEADERS = [
  'x-user-id',
  'x-user-name',
  'x-user-roles',
  'x-forwarded-for',
  'x-request-id',
] as const

const FORMAT = /^t=(?<at>\d{1,12}),v1=(?<mac>[A-Za-z0-9_-]{43})$/
const KEY_BYTES = 32
// Two hosts may differ by some seconds, and a request may wait before it is sent.
const TOLERANCE_MS = 60 * SECOND

type Headers = Readonly<Record<string, string | string[] | undefined>>

/**
 * Proves that a request comes from a program of the same installation, whatever `auth.trusted_proxies` is: one that has the
 * key that signs the tokens, and so could sign a token for the same user (docs/specification.md, Identity).
 */
export class IdentitySignature {
  readonly #clock: Clock
  readonly #keys: readonly [Buffer, ...Buffer[]]

  constructor([current, ...former]: RotatedKeys, clock: Clock) {
    this.#clock = clock
    this.#keys = [derivedKey(current), ...former.map(derivedKey)]
  }

  /** The value of {@link SIGNATURE_HEADER} for these headers. */
  sign(headers: Headers): string {
    const at = Math.floor(this.#clock.now() / SECOND)
    return `t=${at},v1=${macOf(this.#keys[0], at, headers).toString('base64url')}`
  }

  /** Whether the headers are as a program of the installation has signed them within the last minute. */
  verify(headers: IncomingHttpHeaders): boolean {
    const header = headers[SIGNATURE_HEADER]
    if (typeof header !== 'string') return false
    const { at, mac } = FORMAT.exec(header)?.groups ?? {}
    if (at === undefined || mac === undefined) return false
    if (Math.abs(this.#clock.now() - Number(at) * SECOND) > TOLERANCE_MS) return false
    const given = Buffer.from(mac, 'base64url')
    return this.#keys.some((key) => timingSafeEqual(macOf(key, Number(at), headers), given))
  }
}

function macOf(key: Buffer, at: number, headers: Headers): Buffer {
  const values = SIGNED_HEADERS.map((name) => headers[name] ?? null)
  return createHmac('sha256', key)
    .update(JSON.stringify([at, ...values]))
    .digest()
}

/** RFC 5869: the key of the tokens signs nothing else. */
function derivedKey(key: Secret): Buffer {
  return Buffer.from(hkdfSync('sha256', key.reveal(), '', 'platform identity headers', KEY_BYTES))
}
