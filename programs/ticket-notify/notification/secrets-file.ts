import type { Stats } from 'node:fs'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { Secret } from '../../../src/kernel/secret.ts'
import { parseAssignments } from '../../files/assignments.ts'
import { readPrivateFile } from '../../files/private-file.ts'
import { systemErrorCode } from '../../files/system-error.ts'

export const KEYS = [
  'MAIL_SMTP_URL',
  'MAIL_FROM',
  'MAIL_TO',
  'ROBOT_URL',
  'ROBOT_KIND',
  'ROBOT_SECRET',
] as const
export type SecretKey = (typeof KEYS)[number]

/** The values by their keys, without empty ones. */
export type SecretValues = ReadonlyMap<SecretKey, Secret>

/**
 * Reads the credentials of the channels. A missing file has none. A file that others can access, or that cannot be read,
 * is a problem; its description contains nothing of the file.
 */
export function readSecrets(path: string): { readonly values: SecretValues } | { readonly problem: string } {
  try {
    return { values: secretsIn(readPrivateFile(path, requireTrustedOwner)) }
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return { values: new Map() }
    return { problem: `${path}: ${errorMessage(error)}` }
  }
}

function requireTrustedOwner({ uid }: Stats): void {
  if (uid !== 0 && uid !== process.getuid?.()) throw new Error('it belongs to another user; chown it to root')
}

function secretsIn(text: string): SecretValues {
  const values = new Map<SecretKey, Secret>()
  const assignments = parseAssignments(text)
  for (const key of KEYS) {
    const value = assignments.get(key) ?? ''
    if (value !== '') values.set(key, new Secret(value))
  }
  return values
}
