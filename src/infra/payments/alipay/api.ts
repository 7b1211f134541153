import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import type { Clock } from '../../../kernel/clock.ts'
import { BadSignature, ChannelError, type ChannelSettings } from '../../../ports/payments.ts'
import { codeOf, objectMembers, parseMembers, textOf, type Members } from '../fields.ts'
import {
  isUnclear,
  ProviderConnection,
  unusableAnswer,
  secretOf,
  unlessRefused,
  type ChannelDeps,
} from '../provider-connection.ts'
import { HOUR } from '../../../kernel/time.ts'

const SUCCESS = '10000'
/** The gateway, or what stands behind it, does not work at the moment. */
const UNAVAILABLE = '20000'
// https://opendocs.alipay.com/common/02km9f
const UNCLEAR_CODES = /SYSTEM_ERROR|unknow-error|call-limited|ACQ\.(?:UNKNOWN|PROCESSING)/i

/** Signed calls of the gateway of Alipay, whose answers are signed too. */
export class AlipayApi {
  readonly name: string
  readonly #settings: ChannelSettings
  readonly #clock: Clock
  readonly #appId: string
  readonly #privateKey: KeyObject
  readonly #publicKey: KeyObject
  readonly #connection: ProviderConnection

  constructor(settings: ChannelSettings, deps: ChannelDeps) {
    this.name = settings.name
    this.#settings = settings
    this.#clock = deps.clock
    this.#appId = secretOf(settings, 'ALIPAY_APP_ID')
    this.#privateKey = createPrivateKey(secretOf(settings, 'ALIPAY_PRIVATE_KEY'))
    this.#publicKey = createPublicKey(secretOf(settings, 'ALIPAY_PUBLIC_KEY'))
    this.#connection = new ProviderConnection(settings, deps)
  }

  /** `parameters` is the JSON text of the call. @throws ChannelError */
  async call(method: string, parameters: string): Promise<Members> {
    const { status, body } = await this.#connection.send({
      method: 'POST',
      url: this.#settings.apiUrl,
      headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
      body: new URLSearchParams(this.#signed(method, parameters)).toString(),
    })
    const text = body.toString('utf8')
    if (status !== 200) throw this.#refusal(isUnclear(status) ? 'unclear' : 'refused', String(status))
    return this.#resultOf(text, `${method.replaceAll('.', '_')}_response`)
  }

  /** Undefined where the call is refused with one of these codes. @throws ChannelError */
  find(method: string, parameters: string, ...codes: readonly string[]): Promise<Members | undefined> {
    return unlessRefused(this.call(method, parameters), codes)
  }

  download(url: string): AsyncGenerator<Buffer> {
    return this.#connection.download({ method: 'GET', url })
  }

  /**
   * Checks the signature of the fields of a callback. Empty values are signed too. Older signatures also cover `sign_type`.
   *
   * @throws BadSignature
   */
  verifyFields(fields: Readonly<Record<string, string>>): void {
    const { sign: signature = '', sign_type: type, ...signed } = fields
    if (type !== 'RSA2') throw new BadSignature('sign_type is not RSA2')
    const candidates = [signed, { ...signed, sign_type: type }]
    if (!candidates.some((candidate) => this.#isSigned(signedText(candidate), signature)))
      throw new BadSignature('sign is not of the key in ALIPAY_PUBLIC_KEY_FILE')
  }

  end(): Promise<void> {
    return this.#connection.end()
  }

  #signed(method: string, parameters: string): Record<string, string> {
    const fields = {
      app_id: this.#appId,
      method,
      format: 'JSON',
      charset: 'utf-8',
      sign_type: 'RSA2',
      timestamp: formatBeijingTime(this.#clock.now()),
      version: '1.0',
      notify_url: this.#settings.callbackUrl,
      biz_content: parameters,
    }
    return {
      ...fields,
      sign: sign('sha256', Buffer.from(signedText(fields)), this.#privateKey).toString('base64'),
    }
  }

  #isSigned(text: string, signature: string): boolean {
    return verify('sha256', Buffer.from(text), this.#publicKey, Buffer.from(signature, 'base64'))
  }

  /** The result of a call. Its signature covers the text of the result as it was sent. */
  #resultOf(text: string, member: string): Members {
    const answer = parseMembers(text)
    const result = objectMembers(answer[member] ?? answer['error_response'])
    const signature = textOf(answer['sign'])
    if (result['code'] === SUCCESS) {
      const signed = resultText(text, member)
      if (signature === undefined || signed === undefined || !this.#isSigned(signed, signature))
        throw this.#refusal('unclear', 'bad_signature')
      return result
    }
    const code = codeOf(result['sub_code']) ?? codeOf(result['code'])
    if (code === undefined) throw unusableAnswer(this.name, member)
    const isUnknown = result['code'] === UNAVAILABLE || UNCLEAR_CODES.test(code)
    throw this.#refusal(isUnknown ? 'unclear' : 'refused', code)
  }

  #refusal(outcome: ChannelError['outcome'], code: string): ChannelError {
    return new ChannelError(`${this.name}: Alipay did not carry out a call (${code})`, outcome, code)
  }
}

/** The text that a signature covers: all fields by name, with their values before any encoding. */
export function signedText(fields: Readonly<Record<string, string>>): string {
  return Object.keys(fields)
    .toSorted()
    .map((name) => `${name}=${fields[name]}`)
    .join('&')
}

function resultText(text: string, member: string): string | undefined {
  const start = text.indexOf('{', text.indexOf(`"${member}"`))
  const end = text.lastIndexOf('}', text.lastIndexOf('"sign"'))
  return start >= 0 && end > start ? text.slice(start, end + 1) : undefined
}

// China has had no summer time since 1991.
const OFFSET_MS = 8 * HOUR

/** The local time of Beijing: `2026-01-31 10:00:00`. */
export function formatBeijingTime(epochMilliseconds: number): string {
  return new Date(epochMilliseconds + OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ')
}

const LOCAL = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})(?:\.\d+)?$/

/** Epoch milliseconds of a local time of Beijing; undefined for another text. */
export function parseBeijingTime(text: unknown): number | undefined {
  const [, date, time] = (typeof text === 'string' && LOCAL.exec(text)) || []
  const at = Date.parse(`${date}T${time}+08:00`)
  return Number.isNaN(at) ? undefined : at
}
