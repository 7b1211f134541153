import { jsonAnswer, Refusal } from '../../mock-server/answers.ts'
import { apiError, type Answer } from '../answers.ts'
import { isSameSecret } from '../../mock-server/equality.ts'
import type { Call } from '../call.ts'
import type { MockDrive } from '../drive.ts'

const SCOPE = 'user:base,file:all:read,file:all:write'

/** `POST /oauth/access_token`. The refresh token is used up only when all checks pass. */
export function accessToken(drive: MockDrive, { fields }: Call): Answer {
  const grantType = fields.text('grant_type')
  const { clientId, clientSecret } = drive.config
  if (!['refresh_token', 'authorization_code'].includes(grantType))
    return apiError(400, 'InvalidGrantType', 'The grant_type must be refresh_token or authorization_code.')
  if (fields.text('client_id') !== clientId)
    return apiError(400, 'InvalidClientId', 'The client_id is not MOCK_DRIVE_CLIENT_ID.')
  if (!isSameSecret(fields.text('client_secret'), clientSecret.reveal()))
    return apiError(400, 'InvalidClientSecret', 'The client_secret is not MOCK_DRIVE_CLIENT_SECRET.')
  if (grantType === 'authorization_code')
    return apiError(400, 'InvalidCode', 'The mock has no authorization page, so it has issued no code.')
  return refresh(drive, fields.text('refresh_token'))
}

function refresh({ tokens, config }: MockDrive, refreshToken: string): Answer {
  const pair = tokens.refresh(refreshToken)
  if (pair === 'unknown')
    return apiError(401, 'RefreshTokenInvalid', 'The refresh_token is unknown or already used.')
  if (pair === 'expired') return apiError(401, 'RefreshTokenExpired', 'The refresh_token has expired.')
  return jsonAnswer({
    token_type: 'Bearer',
    access_token: pair.accessToken,
    refresh_token: pair.refreshToken,
    expires_in: Math.floor(config.tokenTtlMs / 1_000),
  })
}

// RFC 6750, section 2.1
const BEARER = /^bearer ([A-Za-z0-9._~+/-]+=*)$/i

/** The access token of a request, or a refusal with 401. */
export function requireAccessToken({ tokens }: MockDrive, authorization: string | undefined): string {
  const token = BEARER.exec(authorization ?? '')?.[1]
  const state = token === undefined ? 'unknown' : tokens.accessTokenState(token)
  if (token !== undefined && state === 'valid') return token
  if (state === 'expired')
    throw new Refusal(apiError(401, 'AccessTokenExpired', 'The access token has expired.'))
  throw new Refusal(apiError(401, 'AccessTokenInvalid', 'The access token is missing or unknown.'))
}

const USER_ID = 'user_mock_docvalue_0001'
const DEFAULT_DRIVE_ID = 'drive_mock_docvalue_0001'

export function usersInfo(): Answer {
  return jsonAnswer({ id: USER_ID, name: 'Mock User', avatar: '', phone: '' })
}

export function usersScopes(): Answer {
  return jsonAnswer({ id: USER_ID, scopes: SCOPE.split(',').map((scope) => ({ scope })) })
}

export function getDriveInfo({ config }: MockDrive): Answer {
  const driveId = config.driveId ?? DEFAULT_DRIVE_ID
  return jsonAnswer({
    user_id: USER_ID,
    name: 'Mock User',
    avatar: '',
    default_drive_id: driveId,
    backup_drive_id: driveId,
  })
}

export function getSpaceInfo(drive: MockDrive): Answer {
  const { quota } = drive.config
  return jsonAnswer({
    personal_space_info: { used_size: Math.max(0, quota - drive.freeBytes()), total_size: quota },
  })
}

export function getVipInfo(): Answer {
  return jsonAnswer({ identity: 'member', expire: 0, level: '' })
}
