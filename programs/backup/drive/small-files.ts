import { BackupError } from '../errors.ts'
import type { Drive, DriveFile, UploadTarget } from './port.ts'
import { bytesSource } from './sources.ts'
import { verifyUpload } from './verify.ts'

/** Replaces a file as a whole: the old one is deleted after the new one stands and is verified. */
export async function replaceFile(drive: Drive, target: UploadTarget, content: string): Promise<DriveFile> {
  const source = bytesSource(content)
  const file = await drive.upload(target, source)
  return verifyUpload(drive, file, source)
}

/** The text of the newest file of that name, or undefined. Throws `drive_rejected` for one that is too large. */
export async function readFile(
  drive: Drive,
  target: UploadTarget,
  maxBytes: number,
): Promise<string | undefined> {
  const namesakes = (await drive.list(target.folderId)).filter(({ name }) => name === target.name)
  // Two, when a replacement was interrupted before it deleted the old one.
  const file = namesakes.toSorted((a, b) => a.createdAt - b.createdAt).at(-1)
  if (!file) return undefined
  if (file.size > maxBytes)
    throw new BackupError(
      'drive_rejected',
      `${file.name} on the drive has ${file.size} bytes, more than ${maxBytes}.`,
    )
  const chunks: Uint8Array[] = []
  for await (const chunk of drive.download(file)) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
