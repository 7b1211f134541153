import type { GrantState } from '../grants.ts'
import { badGrant, missing, objection, type Objection, type TokenCheck } from './check.ts'

const badScope = objection(400, 'invalid_scope')

const CODE_STATES: Record<GrantState, Objection | undefined> = {
  good: undefined,
  used: badGrant('this code was used before; a code is good once', 20065),
  expired: badGrant('this code has expired; it is good for 10 minutes', 20004),
}

export const code: TokenCheck = {
  name: 'code',
  judge(exchange) {
    if (exchange.parameter('code') === undefined) return missing('code')
    if (!exchange.grant) return badGrant('there is no such code', 20003)
    return CODE_STATES[exchange.grants.stateOf(exchange.grant)]
  },
}

const REFRESH_TOKEN_STATES: Record<GrantState, Objection | undefined> = {
  good: undefined,
  used: badGrant('this refresh token was used before; the answer to that had the next one', 20073),
  expired: badGrant('this refresh token has expired', 20037),
}

export const refreshToken: TokenCheck = {
  name: 'refresh_token',
  judge(exchange) {
    if (exchange.parameter('refresh_token') === undefined) return missing('refresh_token')
    if (!exchange.grant) return badGrant('there is no such refresh token', 20064)
    return REFRESH_TOKEN_STATES[exchange.grants.stateOf(exchange.grant)]
  },
}

export const issuedTo: TokenCheck = {
  name: 'issued_to',
  judge({ client, grant }) {
    const issued = grant?.authorization.clientId
    if (issued === client.id) return undefined
    return badGrant(
      issued === undefined
        ? '/authorize was called without client_id'
        : 'the code was issued to another client_id',
      20024,
    )
  },
}

export const redirectUri: TokenCheck = {
  name: 'redirect_uri',
  judge({ grant, parameter }) {
    const given = parameter('redirect_uri')
    if (given === grant?.authorization.redirectUri) return undefined
    if (given !== undefined) return badGrant('it is not the one that /authorize was called with', 20071)
    return grant?.authorization.redirectUriGiven ? missing('redirect_uri') : undefined
  },
}

export const scope: TokenCheck = {
  name: 'scope',
  judge({ grant, parameter }) {
    const granted = new Set(grant?.authorization.scope.split(' '))
    const isGranted = parameter('scope')
      ?.split(' ')
      .every((each) => granted.has(each))
    return isGranted === false ? badScope('it goes beyond what /authorize was asked for', 20068) : undefined
  },
}
