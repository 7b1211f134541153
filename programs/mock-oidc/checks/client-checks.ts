import type { CredentialsFault } from '../client-credentials.ts'
import { badClient, badRequest, missing, type Objection, type TokenCheck } from './check.ts'

const CREDENTIALS_FAULTS: Record<CredentialsFault, Objection> = {
  other_scheme: badClient('the scheme of the Authorization header must be Basic', 20002),
  malformed: badRequest(
    'the Authorization header is not Basic with the base64 of id:secret, both form-encoded',
    20063,
  ),
  two_methods: badRequest('the secret stands in the Authorization header and in the body; choose one', 20070),
  two_clients: badRequest('client_id in the body is not the one in the Authorization header', 20063),
}

export const clientAuthentication: TokenCheck = {
  name: 'client_authentication',
  judge: ({ client: { fault } }) => fault && CREDENTIALS_FAULTS[fault],
}

export const clientId: TokenCheck = {
  name: 'client_id',
  judge({ client: { id }, config }) {
    if (id === undefined) return missing('client_id')
    return id === config.clientId ? undefined : badClient('there is no such client', 20048)
  },
}

export const clientSecret: TokenCheck = {
  name: 'client_secret',
  judge({ client: { secret }, config }) {
    if (secret === undefined) return missing('client_secret')
    return secret === config.clientSecret.reveal()
      ? undefined
      : badClient('it is not the secret of this client', 20002)
  },
}
