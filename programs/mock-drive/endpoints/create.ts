import { jsonAnswer, Refusal } from '../../mock-server/answers.ts'
import { apiError, type Answer, type JsonObject } from '../answers.ts'
import { checkName, requireDriveId, requireSpace, type Call } from '../call.ts'
import type { MockDrive } from '../drive.ts'
import { NAME_MODES, type Entry } from '../entries.ts'
import type { Fields } from '../fields.ts'
import type { Upload } from '../uploads.ts'
import { partUrls } from './parts.ts'
import { hash } from 'node:crypto'

const MAX_PARTS = 10_000

type Target = Pick<Upload, 'driveId' | 'parentId' | 'name' | 'nameMode'>

/** `POST openFile/create`: a folder at once; a file after its parts and `complete`, or at once when it is known. */
export async function create(drive: MockDrive, call: Call): Promise<Answer> {
  const { fields } = call
  const target = {
    driveId: requireDriveId(drive, fields),
    parentId: fields.text('parent_file_id'),
    name: checkName(fields.text('name')),
    nameMode: fields.choice('check_name_mode', NAME_MODES),
  }
  const type = fields.choice('type', ['file', 'folder'])
  drive.files.requireFolder(target.parentId)
  const existing = drive.files.childNamed(target.parentId, target.name)
  if (existing && target.nameMode === 'refuse') return jsonAnswer(toCreated(existing, { exist: true }))
  return type === 'folder' ? createFolder(drive, target) : createFile(drive, call, target)
}

function createFolder({ files }: MockDrive, { nameMode, ...target }: Target): Answer {
  const name = files.nameFor(target, nameMode)
  return jsonAnswer(toCreated(files.create({ ...target, name, type: 'folder' }), { exist: false }))
}

async function createFile(drive: MockDrive, call: Call, target: Target): Promise<Answer> {
  const { fields } = call
  const size = fields.integer('size', { minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
  const sha1 = fields.sha1('content_hash')
  const partCount = readPartCount(fields)
  if (size !== undefined) requireSpace(drive, size)
  if (sha1 !== undefined) {
    const rapid = await rapidUpload(drive, call, { ...target, sha1, size })
    if (rapid) return rapid
  } else if (fields.sha1('pre_hash') !== undefined) {
    if (size === undefined) return missingSize('pre_hash')
    refuseKnownPreHash(drive, fields, target)
  }
  const upload = drive.uploads.create({ ...target, size, sha1, partCount })
  const numbers = Array.from({ length: partCount }, (_, index) => index + 1)
  return jsonAnswer({
    ...toUploading(upload),
    rapid_upload: false,
    part_info_list: partUrls(drive, call, upload, numbers),
  })
}

/** Stores the file without an upload, if its content is known and the client proves that it has it. */
async function rapidUpload(
  { files, uploads }: MockDrive,
  { fields, accessToken }: Call,
  { sha1, size, nameMode, ...target }: Target & Pick<Upload, 'size'> & { readonly sha1: string },
): Promise<Answer | undefined> {
  fields.choice('content_hash_name', ['sha1'], 'sha1')
  fields.choice('proof_version', ['v1'], 'v1')
  const proofCode = fields.optionalText('proof_code') ?? ''
  if (size === undefined) return missingSize('content_hash')
  const known = files.fileWithContent(sha1)
  if (known?.size !== size) return undefined
  const { start, end } = proofRange(accessToken, size)
  const chunks: Uint8Array[] = []
  for await (const chunk of files.read(known, start, end)) chunks.push(chunk)
  if (Buffer.concat(chunks).toString('base64') !== proofCode)
    return apiError(
      400,
      'InvalidRapidProof',
      'The proof_code does not match the content and the access token.',
    )
  const name = files.nameFor(target, nameMode)
  const { preHash, parts } = known
  const entry = files.create({ ...target, name, type: 'file', size, sha1, preHash, parts })
  const uploadId = uploads.rememberRapid(entry.fileId)
  return jsonAnswer(
    toCreated(entry, { exist: false, rapid_upload: true, upload_id: uploadId, part_info_list: [] }),
  )
}

function missingSize(field: string): Answer {
  return apiError(400, 'InvalidParameter.Size', `A ${field} needs the size of the file.`)
}

function refuseKnownPreHash({ files }: MockDrive, fields: Fields, { name, parentId }: Target): void {
  const preHash = fields.sha1('pre_hash')
  if (preHash === undefined || !files.hasPreHash(preHash)) return
  const details = { file_name: name, parent_file_id: parentId, pre_hash: preHash }
  throw new Refusal(apiError(409, 'PreHashMatched', 'Pre hash matched.', details))
}

/** The part numbers are 1, 2, 3, …; without a list there is one part. */
function readPartCount(fields: Fields): number {
  const parts = fields.list('part_info_list', MAX_PARTS)
  if (!parts) return 1
  const numbers = parts.map((part) => part.integer('part_number', { minimum: 1, maximum: MAX_PARTS }))
  if (numbers.every((number, index) => number === index + 1)) return numbers.length
  throw new Refusal(
    apiError(
      400,
      'InvalidParameter.PartNumber',
      'The part numbers must be 1, 2, 3 and so on, without a gap.',
    ),
  )
}

type NewFile = Pick<Entry, 'driveId' | 'fileId' | 'parentId' | 'name' | 'type'>

function toCreated({ driveId, fileId, parentId, name, type }: NewFile, members: JsonObject): JsonObject {
  return {
    drive_id: driveId,
    file_id: fileId,
    parent_file_id: parentId,
    file_name: name,
    type,
    status: 'available',
    available: true,
    ...members,
  }
}

function toUploading(upload: Upload): JsonObject {
  const state = { status: 'uploading', available: false, exist: false, upload_id: upload.uploadId }
  return toCreated({ ...upload, type: 'file' }, state)
}

/** The bytes of a file that prove that a client has it: they depend on the access token of the request. */
export function proofRange(
  accessToken: string,
  size: number,
): { readonly start: number; readonly end: number } {
  if (size === 0) return { start: 0, end: 0 }
  const start = Number(BigInt(`0x${hash('md5', accessToken).slice(0, 16)}`) % BigInt(size))
  return { start, end: Math.min(start + PROOF_BYTES, size) }
}

const PROOF_BYTES = 8
