import type { IncomingHttpHeaders } from 'node:http'
import { Refusal, type TextAnswer } from '../mock-server/answers.ts'
import { apiError, storeError } from './answers.ts'
import type { MockDrive } from './drive.ts'
import type { Entry } from './entries.ts'
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

/** The file or folder that the member `file_id` names; refuses other drives, and entries that do not exist. */
export function requireEntry(drive: MockDrive, { fields }: Call): Entry {
  requireDriveId(drive, fields)
  return drive.files.require(fields.text('file_id'))
}

/** Refuses a request to a signed URL whose signature is wrong, or whose time is over. */
export function requireSignedUrl({ urls }: MockDrive, { path, query }: Call): void {
  const state = urls.check(path, query)
  if (state === 'forged') throw new Refusal(unsignedRequest())
  if (state === 'expired') throw new Refusal(storeError(403, 'AccessDenied', 'Request has expired.'))
}

export function unsignedRequest(): TextAnswer {
  return storeError(403, 'SignatureDoesNotMatch', 'The URL is not signed for this request.')
}

export function requireSpace(drive: MockDrive, bytes: number): void {
  if (bytes > drive.freeBytes())
    throw new Refusal(apiError(403, 'QuotaExhausted.Drive', 'The drive has no space for this file.'))
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
