import { BackupError } from '../errors.ts'
import type { Drive, DriveFile, UploadTarget, UploadSource } from './port.ts'
import { bytesSource } from './sources.ts'

/** Stores a file, and verifies it. Other files of the name stay. */
export async function writeFile(drive: Drive, target: UploadTarget, content: string): Promise<DriveFile> {
  const source = bytesSource(content)
  const file = await drive.upload(target, source)
  return verifyUpload(drive, file, source)
}

/** The text of a file. Throws `drive_rejected` for one that is too large. */
export async function readFile(drive: Drive, file: DriveFile, maxBytes: number): Promise<string> {
  if (file.size > maxBytes)
    throw new BackupError(
      'drive_rejected',
      `${file.name} on the drive has ${file.size} bytes, more than ${maxBytes}.`,
    )
  const chunks: Uint8Array[] = []
  for await (const chunk of drive.download(file)) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** Asks the drive for the file, and compares its size and SHA-1. Throws `verify_mismatch`. */
export async function verifyUpload(
  drive: Drive,
  { fileId, name }: Pick<DriveFile, 'fileId' | 'name'>,
  expected: Pick<UploadSource, 'size' | 'sha1'>,
): Promise<DriveFile> {
  const file = await drive.stat(fileId)
  if (!file) throw new BackupError('verify_mismatch', `${name} is not on the drive.`)
  const { size, sha1 } = expected
  if (file.size !== size)
    throw new BackupError('verify_mismatch', `${name} has ${file.size} bytes on the drive, and ${size} here.`)
  if (file.sha1 !== sha1.toUpperCase())
    throw new BackupError(
      'verify_mismatch',
      `${name} has another SHA-1 on the drive (${file.sha1}) than here (${sha1}).`,
    )
  return file
}
