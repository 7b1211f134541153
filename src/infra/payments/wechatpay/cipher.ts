import { createDecipheriv } from 'node:crypto'
import { BadSignature } from '../../../ports/payments.ts'
import { textOf, type Members } from '../json.ts'

const ALGORITHM = 'AEAD_AES_256_GCM'
const TAG_BYTES = 16

/**
 * The text in the resource of a callback: AES-256-GCM with the APIv3 key; the tag is the end of the ciphertext.
 *
 * @throws BadSignature
 */
export function decryptResource(resource: Members, key: string): string {
  if (resource['algorithm'] !== ALGORITHM) throw new BadSignature(`expected a resource of ${ALGORITHM}`)
  const sealed = Buffer.from(textOf(resource['ciphertext']) ?? '', 'base64')
  try {
    const decipher = createDecipheriv(
      'aes-256-gcm',
      Buffer.from(key),
      Buffer.from(textOf(resource['nonce']) ?? ''),
      {
        authTagLength: TAG_BYTES,
      },
    )
    decipher.setAAD(Buffer.from(textOf(resource['associated_data']) ?? ''))
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]).toString('utf8')
  } catch (error) {
    throw new BadSignature('the resource cannot be decrypted: check WECHATPAY_APIV3_KEY', { cause: error })
  }
}
