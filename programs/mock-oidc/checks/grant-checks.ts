import type { GrantState } from '../grants.ts'
import { invalidGrant, missingParameter, checkFailure, type CheckFailure, type TokenCheck } from './check.ts'

const invalidScope = checkFailure(400, 'invalid_scope')

const CODE_STATES: Record<GrantState, CheckFailure | undefined> = {
  good: undefined,
  used: invalidGrant('this code was already used', 20065),
  expired: invalidGrant('this code has expired after 10 minutes', 20004),
}

export const code: TokenCheck = {
  name: 'code',
  run(exchange) {
    if (exchange.parameter('code') === undefined) return missingParameter('code')
    if (!exchange.grant) return invalidGrant('unknown code', 20003)
    return CODE_STATES[exchange.grants.stateOf(exchange.grant)]
  },
}

const REFRESH_TOKEN_STATES: Record<GrantState, CheckFailure | undefined> = {
  good: undefined,
  used: invalidGrant('this refresh token was already used; its response contained a new one', 20073),
  expired: invalidGrant('this refresh token has expired', 20037),
}

export const refreshToken: TokenCheck = {
  name: 'refresh_token',
  run(exchange) {
    if (exchange.parameter('refresh_token') === undefined) return missingParameter('refresh_token')
    if (!exchange.grant) return invalidGrant('unknown refresh token', 20064)
    return REFRESH_TOKEN_STATES[exchange.grants.stateOf(exchange.grant)]
  },
}

export const issuedTo: TokenCheck = {
  name: 'issued_to',
  run({ client, grant }) {
    const issued = grant?.authorization.clientId
    if (issued === client.id) return undefined
    return invalidGrant(
      issued === undefined
        ? '/authorize was called without client_id'
        : 'the code was issued to another client_id',
      20024,
    )
  },
}

export const redirectUri: TokenCheck = {
  name: 'redirect_uri',
  run({ grant, parameter }) {
    const given = parameter('redirect_uri')
    if (given === grant?.authorization.redirectUri) return undefined
    if (given !== undefined) return invalidGrant('it differs from the one at /authorize', 20071)
    return grant?.authorization.hasRedirectUri ? missingParameter('redirect_uri') : undefined
  },
}

export const scope: TokenCheck = {
  name: 'scope',
  run({ grant, parameter }) {
    const granted = new Set(grant?.authorization.scope.split(' '))
    const isGranted = parameter('scope')
      ?.split(' ')
      .every((each) => granted.has(each))
    return isGranted === false ? invalidScope('it exceeds the scope of /authorize', 20068) : undefined
  },
}
