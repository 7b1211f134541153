import type { TokenMode } from '../env.ts'
import { FORM_TYPE, GRANT_TYPES, isGrantType, JSON_TYPE } from '../token-exchange.ts'
import { badGrant, badRequest, missing, objection, type Objection, type TokenCheck } from './check.ts'

const unsupportedMedia = objection(415, 'invalid_request')
const badGrantType = objection(400, 'unsupported_grant_type')
const serverError = objection(500, 'server_error')

const SCENARIOS: Record<TokenMode, Objection | undefined> = {
  ok: undefined,
  idp_error: badGrant('MOCK_TOKEN_MODE is idp_error, every request fails so'),
  http500: serverError('MOCK_TOKEN_MODE is http500, every request fails so', 20050),
}

export const scenario: TokenCheck = { name: 'scenario', judge: ({ config }) => SCENARIOS[config.tokenMode] }

export const contentType: TokenCheck = {
  name: 'content_type',
  judge({ config, contentType: type, contentEncoding }) {
    if (contentEncoding !== 'identity')
      return unsupportedMedia('the body must come without a Content-Encoding')
    if (type === FORM_TYPE) return undefined
    if (type !== JSON_TYPE) return unsupportedMedia(`the body must be ${FORM_TYPE} or ${JSON_TYPE}`)
    if (config.requireForm) return unsupportedMedia(`MOCK_REQUIRE_FORM is 1, the body must be ${FORM_TYPE}`)
    return undefined
  },
}

export const body: TokenCheck = {
  name: 'body',
  judge({ parameters: { fault, repeated } }) {
    if (fault !== undefined) return badRequest(fault, 20063)
    const [name] = repeated
    return name === undefined ? undefined : badRequest(`${name} stands more than once`, 20063)
  },
}

export const grantType: TokenCheck = {
  name: 'grant_type',
  judge(exchange) {
    const type = exchange.parameter('grant_type')
    if (type === undefined) return missing('grant_type')
    if (isGrantType(type)) return undefined
    return badGrantType(`it must be ${GRANT_TYPES.join(' or ')}`, 20036)
  },
}
