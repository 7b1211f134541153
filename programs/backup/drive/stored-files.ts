import { BackupError } from '../errors.ts'
import type { Drive, DriveFile, UploadTarget } from './port.ts'
import { bytesSource } from './sources.ts'
import { verifyUpload } from './verify.ts'

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
