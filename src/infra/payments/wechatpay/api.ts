import {
  createPrivateKey,
  createPublicKey,
  randomBytes,
  sign,
  verify,
  type KeyObject,
  createDecipheriv,
} from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../../../kernel/clock.ts'
import { SECOND } from '../../../kernel/time.ts'
import { BadSignature, ChannelError, type ChannelSettings } from '../../../ports/payments.ts'
import { codeOf, parseMembers, type Members, textOf } from '../fields.ts'
import {
  isUnclear,
  ProviderConnection,
  type ProviderAnswer,
  secretOf,
  unlessRefused,
  type ChannelDeps,
} from '../provider-connection.ts'

const SCHEME = 'WECHATPAY2-SHA256-RSA2048'
const MAXIMUM_AGE_MS = 300 * SECOND

/** The codes for an order or a refund that the provider does not have. */
const UNKNOWN_RESOURCE = ['ORDER_NOT_EXIST', 'RESOURCE_NOT_EXISTS']

/** Signed calls of the HTTP API of WeChat Pay, whose answers are signed too. */
export class WechatPayApi {
  readonly name: string
  readonly #settings: ChannelSettings
  readonly #clock: Clock
  readonly #privateKey: KeyObject
  readonly #publicKey: KeyObject
  readonly #publicKeyId: string
  readonly #connection: ProviderConnection

  constructor(settings: ChannelSettings, deps: ChannelDeps) {
    this.name = settings.name
    this.#settings = settings
    this.#clock = deps.clock
    this.#privateKey = createPrivateKey(secretOf(settings, 'WECHATPAY_PRIVATE_KEY'))
    this.#publicKey = createPublicKey(secretOf(settings, 'WECHATPAY_PUBLIC_KEY'))
    this.#publicKeyId = secretOf(settings, 'WECHATPAY_PUBLIC_KEY_ID')
    this.#connection = new ProviderConnection(settings, deps)
  }

  /** @throws ChannelError */
  post(path: string, body: string): Promise<Members> {
    return this.#call('POST', path, body)
  }

  /** Undefined where the call is refused with one of these codes. @throws ChannelError */
  find(path: string, codes: readonly string[] = UNKNOWN_RESOURCE): Promise<Members | undefined> {
    return unlessRefused(this.#call('GET', path), codes)
  }

  /** A file at an address that the provider has given in a signed answer. It asks for our signature there, and gives none. */
  download(url: string): AsyncGenerator<Buffer> {
    const { pathname, search } = new URL(url)
    return this.#connection.download({
      method: 'GET',
      url,
      headers: this.#headersFor('GET', pathname + search, ''),
    })
  }

  /**
   * Checks the signature and the age of a callback or an answer.
   *
   * @throws BadSignature
   */
  verify(headers: IncomingHttpHeaders, body: Buffer): void {
    const header = (name: string): string => {
      const value = headers[`wechatpay-${name}`]
      if (typeof value === 'string') return value
      throw new BadSignature(`the header Wechatpay-${name} is missing`)
    }
    const [timestamp, nonce] = [header('timestamp'), header('nonce')]
    const [serial, signature] = [header('serial'), header('signature')]
    if (serial !== this.#publicKeyId)
      throw new BadSignature('Wechatpay-Serial is not the key in WECHATPAY_PUBLIC_KEY_ID')
    const text = Buffer.concat([Buffer.from(`${timestamp}\n${nonce}\n`), body, Buffer.from('\n')])
    if (!verify('sha256', text, this.#publicKey, Buffer.from(signature, 'base64')))
      throw new BadSignature('Wechatpay-Signature is not of the key in WECHATPAY_PUBLIC_KEY_FILE')
    // A timestamp that is no number has no age.
    if (!(Math.abs(this.#clock.now() - Number(timestamp) * SECOND) <= MAXIMUM_AGE_MS))
      throw new BadSignature(`Wechatpay-Timestamp is not within ${MAXIMUM_AGE_MS / SECOND} s of now`)
  }

  end(): Promise<void> {
    return this.#connection.end()
  }

  async #call(method: 'GET' | 'POST', path: string, body?: string): Promise<Members> {
    const answer = await this.#connection.send({
      method,
      url: `${this.#settings.apiUrl}${path}`,
      headers: this.#headersFor(method, path, body ?? ''),
      ...(body !== undefined && { body }),
    })
    return this.#membersOf(answer)
  }

  #headersFor(method: string, path: string, body: string): Readonly<Record<string, string>> {
    const timestamp = String(Math.floor(this.#clock.now() / SECOND))
    const nonce = randomBytes(16).toString('hex')
    const text = [method, path, timestamp, nonce, body, ''].join('\n')
    const fields = {
      mchid: secretOf(this.#settings, 'WECHATPAY_MCHID'),
      nonce_str: nonce,
      timestamp,
      serial_no: secretOf(this.#settings, 'WECHATPAY_SERIAL_NO'),
      signature: sign('sha256', Buffer.from(text), this.#privateKey).toString('base64'),
    }
    const list = Object.entries(fields).map(([key, value]) => `${key}="${value}"`)
    return {
      authorization: `${SCHEME} ${list.join(',')}`,
      accept: 'application/json',
      'content-type': 'application/json',
      // The key with which the answer is to be signed. A caller without a name is refused.
      'wechatpay-serial': this.#publicKeyId,
      'user-agent': 'backend-platform',
    }
  }

  #membersOf({ status, headers, body }: ProviderAnswer): Members {
    const members = parseMembers(body.toString('utf8'))
    if (status === 200 || status === 204) {
      this.#verifyAnswer(headers, body)
      return members
    }
    const code = codeOf(members['code']) ?? String(status)
    const isUnknown = isUnclear(status) || code === 'SYSTEM_ERROR'
    const message = `${this.name}: WeChat Pay answered ${status} (${code})`
    throw new ChannelError(message, isUnknown ? 'unclear' : 'refused', code)
  }

  #verifyAnswer(headers: IncomingHttpHeaders, body: Buffer): void {
    try {
      this.verify(headers, body)
    } catch (error) {
      const message = `${this.name}: an answer of WeChat Pay is not signed by it`
      throw new ChannelError(message, 'unclear', 'bad_signature', error)
    }
  }
}

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
    const nonce = Buffer.from(textOf(resource['nonce']) ?? '')
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(textOf(resource['associated_data']) ?? ''))
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]).toString('utf8')
  } catch (error) {
    throw new BadSignature('the resource cannot be decrypted: check WECHATPAY_APIV3_KEY', { cause: error })
  }
}
