import type { CredentialsProblem } from '../client-credentials.ts'
import {
  invalidClient,
  invalidRequest,
  missingParameter,
  type CheckFailure,
  type TokenCheck,
} from './check.ts'

const CREDENTIALS_PROBLEMS: Record<CredentialsProblem, CheckFailure> = {
  other_scheme: invalidClient('the scheme of the Authorization header must be Basic', 20002),
  malformed: invalidRequest(
    'the Authorization header must be Basic with the base64 of id:secret, both form-encoded',
    20063,
  ),
  two_methods: invalidRequest(
    'send the secret in the Authorization header or in the body, not in both',
    20070,
  ),
  two_clients: invalidRequest(
    'client_id in the body differs from the one in the Authorization header',
    20063,
  ),
}

export const clientAuthentication: TokenCheck = {
  name: 'client_authentication',
  run: ({ client: { problem } }) => problem && CREDENTIALS_PROBLEMS[problem],
}

export const clientId: TokenCheck = {
  name: 'client_id',
  run({ client: { id }, config }) {
    if (id === undefined) return missingParameter('client_id')
    return id === config.clientId ? undefined : invalidClient('unknown client', 20048)
  },
}

export const clientSecret: TokenCheck = {
  name: 'client_secret',
  run({ client: { secret }, config }) {
    if (secret === undefined) return missingParameter('client_secret')
    return secret === config.clientSecret.reveal() ? undefined : invalidClient('wrong secret', 20002)
  },
}
