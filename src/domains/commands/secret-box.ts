import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { AppError } from '../../kernel/errors.ts'
import type { RotatedKeys, Secret } from '../../kernel/secret.ts'
import type { ParameterValues } from './parameters.ts'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12 // NIST SP 800-38D, 8.2
const TAG_BYTES = 16

/**
 * Encrypts the secret parameters of an execution between its request and its start. The key is derived from the key that
 * signs the tokens (RFC 5869), so every process has it and the database does not. A text is bound to its execution.
 */
export class SecretBox {
  readonly #keys: () => RotatedKeys

  /** The keys are read at the first use. */
  constructor(keys: () => RotatedKeys) {
    this.#keys = keys
  }

  seal(executionId: string, secrets: ParameterValues): string | null {
    if (Object.keys(secrets).length === 0) return null
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, deriveKey(this.#keys()[0]), nonce).setAAD(Buffer.from(executionId))
    const sealed = [cipher.update(JSON.stringify(secrets), 'utf8'), cipher.final()]
    return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]).toString('base64')
  }

  /** Throws if the text was sealed with another key, for another execution, or was changed. */
  open(executionId: string, sealed: string | null): ParameterValues {
    if (sealed === null) return {}
    const text = this.#keys()
      .values()
      .map((key) => decrypt(key, executionId, Buffer.from(sealed, 'base64')))
      .find((decrypted) => decrypted !== undefined)
    if (text !== undefined) return JSON.parse(text) as ParameterValues
    throw new AppError(
      'unavailable',
      'secrets_unreadable',
      'The secret parameters cannot be decrypted: the api and the worker need the same auth.jwt_secret.',
    )
  }
}

/** Undefined for a text that another key has encrypted, for another execution, or that was changed. */
function decrypt(key: Secret, executionId: string, bytes: Buffer): string | undefined {
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const cipher = createDecipheriv(CIPHER, deriveKey(key), nonce).setAAD(Buffer.from(executionId))
  try {
    cipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    return Buffer.concat([cipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), cipher.final()]).toString()
  } catch {
    return undefined
  }
}

function deriveKey(key: Secret): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key.reveal(), '', 'platform command secrets', KEY_BYTES))
}
