import { BackupError } from '../errors.ts'
import type { Drive, DriveFile, UploadSource } from './port.ts'

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
