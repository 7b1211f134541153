import type { IncomingHttpHeaders } from 'node:http'
import { isUtf8 } from 'node:buffer'
import { JSON_TYPE, mediaType } from '../mock-server/media-type.ts'
import { readClientCredentials, type ClientCredentials } from './client-credentials.ts'
import type { MockConfig } from './env.ts'
import type { Grant, Grants } from './grants.ts'
import { parseForm, parseJsonObject, unreadableParameters, type Parameters } from './parameters.ts'

/** A parsed request to `/token`, before its checks. */
export interface TokenExchange {
  readonly config: MockConfig
  readonly grants: Grants
  readonly contentType: string
  readonly contentEncoding: string
  readonly parameters: Parameters
  readonly client: ClientCredentials
  /** The code or the refresh token in the request, if it is known. */
  readonly grant: Grant | undefined
  parameter(name: TokenParameter): string | undefined
}

export const GRANT_TYPES = ['authorization_code', 'refresh_token'] as const
export type GrantType = (typeof GRANT_TYPES)[number]

export function isGrantType(text: string | undefined): text is GrantType {
  return GRANT_TYPES.some((type) => type === text)
}

const TOKEN_PARAMETERS = [
  'grant_type',
  'code',
  'client_id',
  'client_secret',
  'redirect_uri',
  'code_verifier',
  'refresh_token',
  'scope',
] as const
type TokenParameter = (typeof TOKEN_PARAMETERS)[number]

const KNOWN: ReadonlySet<string> = new Set(TOKEN_PARAMETERS)

export function readTokenExchange(
  { headers, body }: { headers: IncomingHttpHeaders; body: Buffer },
  { config, grants }: { config: MockConfig; grants: Grants },
): TokenExchange {
  const contentType = mediaType(headers['content-type'])
  const parameters = readParameters(contentType, body)
  const { values } = parameters
  return {
    config,
    grants,
    contentType,
    contentEncoding: headers['content-encoding'] ?? 'identity',
    parameters,
    client: readClientCredentials(headers.authorization, {
      id: values.get('client_id'),
      secret: values.get('client_secret'),
    }),
    grant: findGrant(values, grants),
    parameter: (name) => values.get(name),
  }
}

function readParameters(contentType: string, body: Buffer): Parameters {
  if (!isUtf8(body)) return unreadableParameters('the body is not UTF-8')
  const text = body.toString('utf8')
  return contentType === JSON_TYPE ? parseJsonObject(text, KNOWN) : parseForm(text, KNOWN)
}

function findGrant(values: ReadonlyMap<string, string>, grants: Grants): Grant | undefined {
  return values.get('grant_type') === 'refresh_token'
    ? grants.findRefreshToken(values.get('refresh_token') ?? '')
    : grants.findCode(values.get('code') ?? '')
}
