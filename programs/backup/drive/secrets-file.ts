import { errorMessage } from '../../../src/kernel/errors.ts'
import { Secret } from '../../../src/kernel/secret.ts'
import { parseAssignments } from '../../files/assignments.ts'
import { BackupError } from '../errors.ts'
import { readPrivateFile } from '../../files/private-file.ts'

/** Identifies this application at the drive. */
export interface DriveSecrets {
  readonly clientId: string
  readonly clientSecret: Secret
}

/** Reads `DRIVE_CLIENT_ID` and `DRIVE_CLIENT_SECRET`. Throws `token_unreadable` without anything of the file. */
export function readDriveSecrets(path: string): DriveSecrets {
  const values = parseAssignments(readText(path))
  const requireValue = (key: string): string => {
    const value = values.get(key) ?? ''
    if (value !== '') return value
    throw new BackupError('token_unreadable', `${path}: ${key} is missing; add the line ${key}=…`)
  }
  return {
    clientId: requireValue('DRIVE_CLIENT_ID'),
    clientSecret: new Secret(requireValue('DRIVE_CLIENT_SECRET')),
  }
}

function readText(path: string): string {
  try {
    return readPrivateFile(path)
  } catch (error) {
    throw new BackupError('token_unreadable', `${path}: ${errorMessage(error)}`, { cause: error })
  }
}
