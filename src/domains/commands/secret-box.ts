import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { AppError } from '../../kernel/errors.ts'
import type { Secret } from '../../kernel/secret.ts'
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
  readonly #key: () => Secret

  /** The key is read at the first use. */
  constructor(key: () => Secret) {
    this.#key = key
  }

  seal(executionId: string, secrets: ParameterValues): string | null {
    if (Object.keys(secrets).length === 0) return null
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, this.#derivedKey(), nonce).setAAD(Buffer.from(executionId))
    const sealed = [cipher.update(JSON.stringify(secrets), 'utf8'), cipher.final()]
    return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]).toString('base64')
  }

  /** Throws if the text was sealed with another key, for another execution, or was changed. */
  open(executionId: string, sealed: string | null): ParameterValues {
    if (sealed === null) return {}
    const bytes = Buffer.from(sealed, 'base64')
    const nonce = bytes.subarray(0, NONCE_BYTES)
    const cipher = createDecipheriv(CIPHER, this.#derivedKey(), nonce).setAAD(Buffer.from(executionId))
    try {
      cipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      const text = Buffer.concat([cipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), cipher.final()])
      return JSON.parse(text.toString()) as ParameterValues
    } catch (cause) {
      throw new AppError(
        'unavailable',
        'secrets_unreadable',
        'The secret parameters cannot be decrypted: the api and the worker need the same auth.jwt_secret.',
        { cause },
      )
    }
  }

  #derivedKey(): Uint8Array {
    return new Uint8Array(hkdfSync('sha256', this.#key().reveal(), '', 'platform command secrets', KEY_BYTES))
  }
}
