import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '../mock-server/answers.ts'
import { apiError } from './answers.ts'
import type { MockDrive } from './drive.ts'
import type { Fields } from './fields.ts'

/** The parts of a request that endpoints use. */
export interface Call {
  /** The path, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** The valid token of the request; empty where none is needed. */
  readonly accessToken: string
  /** The members of the JSON body; none where the body is not JSON. */
  readonly fields: Fields
  /** The body, where it is not JSON. */
  readonly content: AsyncIterable<Uint8Array>
  /** The base of the URLs in the answer. */
  readonly baseUrl: string
}

/** If MOCK_DRIVE_ID is set, refuses every other drive. */
export function requireDriveId({ config }: MockDrive, fields: Fields): string {
  const driveId = fields.text('drive_id')
  if (config.driveId === undefined || driveId === config.driveId) return driveId
  throw new Refusal(apiError(403, 'UserNotAllowedAccessDrive', 'The drive_id is not a drive of this user.'))
}

const MAX_NAME_BYTES = 1_024

export function checkName(name: string): string {
  // A slash inside of a name would make it unreachable for get_by_path.
  const isGood = Buffer.byteLength(name) <= MAX_NAME_BYTES && !name.includes('/') && !name.includes('\0')
  if (isGood) return name
  throw new Refusal(
    apiError(400, 'InvalidParameter.Name', `A name has at most ${MAX_NAME_BYTES} bytes and no slash.`),
  )
}
