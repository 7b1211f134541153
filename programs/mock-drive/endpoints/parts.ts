import { toRfc3339 } from '../../../src/kernel/time.ts'
import { jsonAnswer } from '../../mock-server/answers.ts'
import { apiError, invalidParameter, storeError, type Answer, type JsonObject } from '../answers.ts'
import { requireDriveId, requireSignedUrl, unsignedRequest, type Call } from '../call.ts'
import type { MockDrive } from '../drive.ts'
import { toRecord, type StoredPart } from '../entries.ts'
import { sizeOf, type PartResult, type Upload } from '../uploads.ts'

// 5 GB, the limit of a part
const MAX_PART_BYTES = 5 * 1_024 ** 3
const MAX_PARTS_AT_ONCE = 10_000
const PARTS_IN_A_PAGE = 1_000

/** The members of `part_info_list` with a URL for each part. */
export function partUrls(
  { urls, config }: MockDrive,
  { baseUrl }: Call,
  { uploadId }: Upload,
  numbers: readonly number[],
): JsonObject[] {
  return numbers.map((number) => ({
    part_number: number,
    upload_url: `${baseUrl}${urls.sign(`/upload/${uploadId}/${number}`, config.urlTtlMs)}`,
    content_type: '',
  }))
}

/** `POST openFile/getUploadUrl`: new URLs for parts. */
export function getUploadUrl(drive: MockDrive, call: Call): Answer {
  const { fields } = call
  const upload = requireUpload(drive, call)
  const parts = fields.list('part_info_list', MAX_PARTS_AT_ONCE)
  if (!parts) return invalidParameter('PartInfoList', 'expected a list')
  const numbers = parts.map(
    (part) => part.integer('part_number', { minimum: 1, maximum: upload.partCount }) ?? 0,
  )
  if (numbers.includes(0)) return invalidParameter('PartNumber', 'expected a number in each part')
  return jsonAnswer({
    ...idsOf(upload),
    created_at: toRfc3339(drive.clock.now()),
    part_info_list: partUrls(drive, call, upload, numbers),
  })
}

/** `POST openFile/listUploadedParts`, in pages. */
export function listUploadedParts(drive: MockDrive, call: Call): Answer {
  const upload = requireUpload(drive, call)
  const marker = call.fields.optionalText('part_number_marker') ?? ''
  if (!/^\d{0,5}$/.test(marker)) return invalidParameter('PartNumberMarker', 'expected a part number')
  const from = Number(marker)
  const page = upload.parts.slice(from, from + PARTS_IN_A_PAGE)
  const end = from + page.length
  return jsonAnswer({
    ...idsOf(upload),
    parallelUpload: false,
    uploaded_parts: page.map(({ etag, size }, index) => ({
      etag: `"${etag}"`,
      part_number: from + index + 1,
      part_size: size,
    })),
    next_part_number_marker: end < upload.parts.length ? String(end) : '',
  })
}

/** `PUT` of a part to its URL: the URL says which part, and no token and no content type are needed. */
export async function putPart(drive: MockDrive, call: Call): Promise<Answer> {
  const { path, headers } = call
  // The content type is a part of what a real store signs.
  if (headers['content-type'] !== undefined) return unsignedRequest()
  requireSignedUrl(drive, call)
  if (headers.authorization !== undefined)
    return storeError(400, 'InvalidArgument', 'The URL is signed, so the request must have no Authorization.')
  const [, , uploadId = '', number = ''] = path.split('/')
  const refusal = refusedLength(drive, headers['content-length'])
  return refusal ?? toStoreAnswer(await storePart(drive, call, uploadId, Number(number)))
}

function refusedLength(drive: MockDrive, header: string | undefined): Answer | undefined {
  if (header === undefined)
    return storeError(411, 'MissingContentLength', 'The request needs a Content-Length.')
  const length = Number(header)
  if (length > MAX_PART_BYTES) return storeError(400, 'EntityTooLarge', 'A part has at most 5 GB.')
  return length > drive.freeBytes()
    ? storeError(403, 'QuotaExhausted.Drive', 'The drive has no space for this part.')
    : undefined
}

/** A part that cannot be stored is refused before its content is read. */
async function storePart(
  { uploads }: MockDrive,
  { content }: Call,
  uploadId: string,
  number: number,
): Promise<PartResult> {
  return uploads.obstacle(uploadId, number) ?? uploads.store(uploadId, number, content)
}

const NO_UPLOAD = 'There is no such upload; it may be complete.'
const EXISTS = 'The part is already stored.'
const NOT_SEQUENTIAL = 'The part before this one is not stored yet.'

const STORE_ERRORS = {
  no_upload: storeError(404, 'NoSuchUpload', NO_UPLOAD),
  exists: storeError(409, 'PartAlreadyExist', EXISTS),
  not_sequential: storeError(409, 'PartNotSequential', NOT_SEQUENTIAL),
}

const API_ERRORS = {
  no_upload: apiError(400, 'NotFound.UploadId', NO_UPLOAD),
  exists: apiError(409, 'PartAlreadyExist', EXISTS),
  not_sequential: apiError(409, 'PartNotSequential', NOT_SEQUENTIAL),
}

function toStoreAnswer(result: PartResult): Answer {
  if (typeof result === 'string') return STORE_ERRORS[result]
  return { status: 200, headers: { ETag: `"${result.etag}"` }, body: '' }
}

/** `POST openFile/uploadPart`: the content of a part as the body, its ids and number in the query. */
export async function uploadPart(drive: MockDrive, call: Call): Promise<Answer> {
  const { query, headers } = call
  const number = Number(query.get('part_number'))
  const upload = drive.uploads.require(query.get('upload_id') ?? '', query.get('file_id') ?? '')
  if (!Number.isInteger(number) || number < 1 || number > upload.partCount)
    return invalidParameter('PartNumber', `expected a number from 1 to ${upload.partCount}`)
  const refusal = refusedLength(drive, headers['content-length'])
  if (refusal) return apiError(refusal.status, refusal.error ?? '', 'The length of the part is refused.')
  const result = await storePart(drive, call, upload.uploadId, number)
  return typeof result === 'string' ? API_ERRORS[result] : toPartAnswer(number, result)
}

function toPartAnswer(number: number, { etag, size }: StoredPart): Answer {
  return jsonAnswer({ part_number: number, etag: `"${etag}"`, part_size: size })
}

/** `POST openFile/complete`: makes a file of the parts, when all of them are stored. */
export async function complete(drive: MockDrive, call: Call): Promise<Answer> {
  const { fields } = call
  requireDriveId(drive, fields)
  const [uploadId, fileId] = [fields.text('upload_id'), fields.text('file_id')]
  if (drive.uploads.isRapid(uploadId, fileId)) return jsonAnswer(toRecord(drive.files.require(fileId)))
  const upload = drive.uploads.require(uploadId, fileId)
  const hashes = await drive.uploads.contentHashes(upload)
  // Another request may have completed it in the meantime.
  drive.uploads.require(uploadId, fileId)
  return completeRefusal(drive, upload, hashes.sha1) ?? finish(drive, upload, hashes)
}

function completeRefusal({ config, files }: MockDrive, upload: Upload, sha1: string): Answer | undefined {
  const { parts, partCount, size } = upload
  if (parts.length < partCount)
    return apiError(
      400,
      'InvalidParameter.PartNumber',
      `Only ${parts.length} of ${partCount} parts are stored.`,
    )
  if (parts.slice(0, -1).some((part) => part.size < config.minPartSize))
    return apiError(400, 'InvalidParameter.PartSize', `A part has at least ${config.minPartSize} bytes.`)
  if (size !== undefined && sizeOf(parts) !== size)
    return apiError(400, 'InvalidParameter.Size', 'The parts do not have the size that create named.')
  if (upload.sha1 !== undefined && upload.sha1 !== sha1)
    return apiError(400, 'InvalidParameter.ContentHash', 'The parts do not have the SHA-1 that create named.')
  files.requireFolder(upload.parentId)
  if (upload.nameMode === 'refuse' && files.childNamed(upload.parentId, upload.name))
    return apiError(409, 'AlreadyExist.File', 'There is a file of this name.')
  return undefined
}

function finish(
  { files, uploads }: MockDrive,
  upload: Upload,
  hashes: { sha1: string; preHash: string },
): Answer {
  const { fileId, driveId, parentId, parts, nameMode } = upload
  const name = files.nameFor(upload, nameMode)
  const entry = files.create({
    fileId,
    driveId,
    parentId,
    name,
    type: 'file',
    size: sizeOf(parts),
    parts,
    ...hashes,
  })
  uploads.remove(upload, { withContent: false })
  return jsonAnswer(toRecord(entry))
}

function requireUpload(drive: MockDrive, { fields }: Call): Upload {
  requireDriveId(drive, fields)
  return drive.uploads.require(fields.text('upload_id'), fields.text('file_id'))
}

function idsOf({ driveId, fileId, uploadId }: Upload): JsonObject {
  return { drive_id: driveId, file_id: fileId, upload_id: uploadId }
}
