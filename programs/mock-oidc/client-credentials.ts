import { decodeFormText } from './parameters.ts'

/** How a client said who it is (RFC 6749, section 2.3.1). */
export interface ClientCredentials {
  readonly id: string | undefined
  readonly secret: string | undefined
  /** Whether it used the Authorization header, and must be challenged there when it fails. */
  readonly inHeader: boolean
  readonly fault?: CredentialsFault
}

export type CredentialsFault = 'other_scheme' | 'malformed' | 'two_methods' | 'two_clients'

interface InBody {
  readonly id: string | undefined
  readonly secret: string | undefined
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i

export function readClientCredentials(authorization: string | undefined, inBody: InBody): ClientCredentials {
  if (authorization === undefined) return { ...inBody, inHeader: false }
  const failed = (fault: CredentialsFault) => ({ id: undefined, secret: undefined, inHeader: true, fault })
  if (!/^basic /i.test(authorization)) return failed('other_scheme')
  const inHeader = decodeBasic(authorization)
  if (!inHeader) return failed('malformed')
  if (inBody.secret !== undefined) return failed('two_methods')
  if (inBody.id !== undefined && inBody.id !== inHeader.id) return failed('two_clients')
  return { ...inHeader, inHeader: true }
}

/** Both parts are form-encoded before they are joined, which many a client forgets. */
function decodeBasic(authorization: string): InBody | undefined {
  const encoded = BASIC.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const pair = Buffer.from(encoded, 'base64').toString('latin1')
  const colon = pair.indexOf(':')
  if (colon < 0) return undefined
  const id = decodeFormText(pair.slice(0, colon))
  const secret = decodeFormText(pair.slice(colon + 1))
  if (id === undefined || secret === undefined) return undefined
  return { id: id || undefined, secret: secret || undefined }
}
