import { errorMessage } from '../../../src/kernel/errors.ts'
import { Secret } from '../../../src/kernel/secret.ts'
import { BackupError } from '../errors.ts'
import { readPrivateFile } from '../private-file.ts'

/** Identifies this application at the drive. */
export interface DriveSecrets {
  readonly clientId: string
  readonly clientSecret: Secret
}

// KEY=value, with or without `export` and quotes. A `#` is part of a value: a secret must not be cut.
const LINE = /^\s*(?:export\s+)?([A-Z_][A-Z0-9_]*)\s*=\s*(.*?)\s*$/

/** Reads `DRIVE_CLIENT_ID` and `DRIVE_CLIENT_SECRET`. Throws `token_unreadable` without anything of the file. */
export function readDriveSecrets(path: string): DriveSecrets {
  const values = parseLines(readText(path))
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

function parseLines(text: string): Map<string, string> {
  const pairs = text.split(/\r?\n/).map((line) => LINE.exec(line))
  return new Map(
    pairs.flatMap((match) => (match ? [[match[1] ?? '', unquote(match[2] ?? '')] as const] : [])),
  )
}

function unquote(raw: string): string {
  return /^(["'])(.*)\1$/.exec(raw)?.[2] ?? raw
}
