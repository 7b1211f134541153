import { decodeFormText } from './parameters.ts'

/** How the client authenticated (RFC 6749, section 2.3.1). */
export interface ClientCredentials {
  readonly id: string | undefined
  readonly secret: string | undefined
  /** Whether the request had an Authorization header: a failure is then challenged with `WWW-Authenticate`. */
  readonly inHeader: boolean
  readonly problem?: CredentialsProblem
}

export type CredentialsProblem = 'other_scheme' | 'malformed' | 'two_methods' | 'two_clients'

interface Credentials {
  readonly id: string | undefined
  readonly secret: string | undefined
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i

export function readClientCredentials(
  authorization: string | undefined,
  inBody: Credentials,
): ClientCredentials {
  if (authorization === undefined) return { ...inBody, inHeader: false }
  const failure = (problem: CredentialsProblem) => ({
    id: undefined,
    secret: undefined,
    inHeader: true,
    problem,
  })
  if (!/^basic /i.test(authorization)) return failure('other_scheme')
  const inHeader = decodeBasic(authorization)
  if (!inHeader) return failure('malformed')
  if (inBody.secret !== undefined) return failure('two_methods')
  if (inBody.id !== undefined && inBody.id !== inHeader.id) return failure('two_clients')
  return { ...inHeader, inHeader: true }
}

/** RFC 6749, section 2.3.1: the client form-encodes id and secret before it joins them. */
function decodeBasic(authorization: string): Credentials | undefined {
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
