import { signRequest, type SignedRequest } from '../../src/kernel/identity-signature.ts'
import { readPrivateFile } from '../files/private-file.ts'
import { systemErrorCode } from '../files/system-error.ts'
import { messageOf } from './errors.ts'
import { UsageError } from './options.ts'

/** The value of the header that proves the identity in a request. */
export type SignRequest = (request: SignedRequest) => string

const KEY = /^[A-Za-z0-9_-]{43}$/

/**
 * Signs with the key that the platform keeps in its data directory. Undefined without the file, and where this user may not
 * read it: then only a platform that trusts this host accepts the requests. Throws a {@link UsageError} for another file.
 */
export function requestSigner(path: string, now: () => number): SignRequest | undefined {
  const key = readKey(path)
  return key && ((request) => signRequest(key, now(), request))
}

function readKey(path: string): Buffer | undefined {
  let text: string
  try {
    text = readPrivateFile(path).trim()
  } catch (error) {
    if (['ENOENT', 'EACCES'].includes(systemErrorCode(error) ?? '')) return undefined
    throw new UsageError(`environment TICKET_NOTIFY_KEY_FILE: ${path}: ${messageOf(error)}`)
  }
  if (KEY.test(text)) return Buffer.from(text, 'base64url')
  throw new UsageError(
    `environment TICKET_NOTIFY_KEY_FILE: ${path}: expected the file identity-key of the platform's data directory`,
  )
}
