import { toRfc3339 } from '../../../src/kernel/time.ts'
import { jsonAnswer } from '../../mock-server/answers.ts'
import { apiError, storeError, type Answer } from '../answers.ts'
import { requireEntry, requireSignedUrl, type Call } from '../call.ts'
import type { MockDrive } from '../drive.ts'

const DEFAULT_EXPIRE_SECONDS = 900
const MAX_EXPIRE_SECONDS = 14_400

/** `POST openFile/getDownloadUrl`. MOCK_DRIVE_URL_TTL limits the life of the URL. */
export function getDownloadUrl(drive: MockDrive, call: Call): Answer {
  const { fields, baseUrl } = call
  const entry = requireEntry(drive, call)
  if (entry.type === 'folder')
    return apiError(400, 'InvalidResource.FileType', 'A folder cannot be downloaded.')
  const seconds = fields.integer('expire_sec', { minimum: 1, maximum: MAX_EXPIRE_SECONDS })
  const ttlMs = Math.min((seconds ?? DEFAULT_EXPIRE_SECONDS) * 1_000, drive.config.urlTtlMs)
  return jsonAnswer({
    url: `${baseUrl}${drive.urls.sign(`/download/${entry.fileId}`, ttlMs)}`,
    expiration: toRfc3339(drive.clock.now() + ttlMs),
    method: 'GET',
    size: entry.size,
    content_hash: entry.sha1,
    content_hash_name: 'sha1',
  })
}

/** `GET` of a download URL, with one range at most (RFC 9110, section 14). */
export function download(drive: MockDrive, call: Call): Answer {
  requireSignedUrl(drive, call)
  const { path, headers } = call
  const entry = drive.files.find(path.split('/')[2] ?? '')
  if (!entry) return storeError(404, 'NoSuchKey', 'The file does not exist.')
  const { size } = entry
  const range = parseRange(headers.range, size)
  const common = { 'Accept-Ranges': 'bytes', 'Content-Type': 'application/octet-stream' }
  if (range === 'unsatisfiable') {
    const answer = storeError(416, 'InvalidRange', 'The range begins after the end of the file.')
    return { ...answer, headers: { ...answer.headers, 'Content-Range': `bytes */${size}` } }
  }
  const { start, end } = range ?? { start: 0, end: size }
  const body = { length: end - start, chunks: () => drive.files.read(entry, start, end) }
  if (!range) return { status: 200, headers: common, body }
  return { status: 206, headers: { ...common, 'Content-Range': `bytes ${start}-${end - 1}/${size}` }, body }
}

interface ByteRange {
  readonly start: number
  /** Exclusive. */
  readonly end: number
}

/** A range that is malformed is ignored, as RFC 9110 says. */
function parseRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [whole, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (whole === undefined || (first === '' && last === '')) return undefined
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(Number(last) + 1, size)
  if (first !== '' && last !== '' && Number(last) < start) return undefined
  return start < size && start < end ? { start, end } : 'unsatisfiable'
}
