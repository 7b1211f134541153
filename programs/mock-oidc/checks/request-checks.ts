import type { TokenMode } from '../env.ts'
import { FORM_TYPE, GRANT_TYPES, isGrantType, JSON_TYPE } from '../token-exchange.ts'
import {
  invalidGrant,
  invalidRequest,
  missingParameter,
  checkFailure,
  type CheckFailure,
  type TokenCheck,
} from './check.ts'

const unsupportedMediaType = checkFailure(415, 'invalid_request')
const unsupportedGrantType = checkFailure(400, 'unsupported_grant_type')
const serverError = checkFailure(500, 'server_error')

const TOKEN_MODE_FAILURES: Record<TokenMode, CheckFailure | undefined> = {
  ok: undefined,
  idp_error: invalidGrant('MOCK_TOKEN_MODE is idp_error'),
  http500: serverError('MOCK_TOKEN_MODE is http500', 20050),
}

export const scenario: TokenCheck = {
  name: 'scenario',
  run: ({ config }) => TOKEN_MODE_FAILURES[config.tokenMode],
}

export const contentType: TokenCheck = {
  name: 'content_type',
  run({ config, contentType: type, contentEncoding }) {
    if (contentEncoding !== 'identity') return unsupportedMediaType('the body must have no Content-Encoding')
    if (type === FORM_TYPE) return undefined
    if (type !== JSON_TYPE) return unsupportedMediaType(`the body must be ${FORM_TYPE} or ${JSON_TYPE}`)
    if (config.requireForm)
      return unsupportedMediaType(`MOCK_REQUIRE_FORM is 1, the body must be ${FORM_TYPE}`)
    return undefined
  },
}

export const body: TokenCheck = {
  name: 'body',
  run({ parameters: { problem, repeated } }) {
    if (problem !== undefined) return invalidRequest(problem, 20063)
    const [name] = repeated
    return name === undefined ? undefined : invalidRequest(`${name} must not be repeated`, 20063)
  },
}

export const grantType: TokenCheck = {
  name: 'grant_type',
  run(exchange) {
    const type = exchange.parameter('grant_type')
    if (type === undefined) return missingParameter('grant_type')
    if (isGrantType(type)) return undefined
    return unsupportedGrantType(`it must be ${GRANT_TYPES.join(' or ')}`, 20036)
  },
}
