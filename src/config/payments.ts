import { createPrivateKey, createPublicKey } from 'node:crypto'
import { parseEnv } from 'node:util'
import { resolve, dirname } from 'node:path'
import { isLoopbackHost } from '../kernel/addresses.ts'
import { httpsUrl } from './address-types.ts'
import { timeOfDay, timeZone } from './backup-types.ts'
import type { Problem } from './config-error.ts'
import { readPrivateText, unusableFile } from './private-file.ts'
import { setting } from './setting.ts'
import { readerOf, type TableReader } from './table-reader.ts'
import { choice, path, trueOrFalse, valueType } from './value-types.ts'

const CHANNEL_KINDS = ['stripe', 'wechatpay', 'alipay'] as const
type ChannelKind = (typeof CHANNEL_KINDS)[number]

/** A table `[payments.channels.<name>]`. */
export interface PaymentChannelConfig {
  readonly name: string
  readonly kind: ChannelKind
  readonly secretsFile: string
  /** Empty: that of the kind. */
  readonly apiUrl: string
  /** Where it is configured, in words. */
  readonly source: string
}

/** The variables of the secrets file of a kind; one that ends in `_FILE` names a file with a key in PEM. */
const SECRETS: Readonly<Record<ChannelKind, readonly string[]>> = {
  stripe: ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'],
  wechatpay: [
    'WECHATPAY_MCHID',
    'WECHATPAY_APPID',
    'WECHATPAY_APIV3_KEY',
    'WECHATPAY_SERIAL_NO',
    'WECHATPAY_PRIVATE_KEY_FILE',
    'WECHATPAY_PUBLIC_KEY_ID',
    'WECHATPAY_PUBLIC_KEY_FILE',
  ],
  alipay: ['ALIPAY_APP_ID', 'ALIPAY_SELLER_ID', 'ALIPAY_PRIVATE_KEY_FILE', 'ALIPAY_PUBLIC_KEY_FILE'],
}

const APIV3_KEY = 'WECHATPAY_APIV3_KEY'
const APIV3_KEY_BYTES = 32
const MAX_SECRETS_BYTES = 65_536
const CHANNEL_NAME = /^[a-z][a-z0-9_-]{0,31}$/
const CNY_ONLY: readonly ChannelKind[] = ['wechatpay', 'alipay']

// Accepted at once: `Intl`, which knows all others, takes 8 MB with its first use.
const DEFAULT_CURRENCY = 'CNY'
const TWO_DECIMALS = 2
// Providers count these in whole units, or demand them so, whatever ISO 4217 says.
const WHOLE_UNITS = ['HUF', 'ISK', 'TWD', 'UGX']

const currency = valueType({
  name: 'currency',
  expected: 'a currency of ISO 4217 with two decimals, such as CNY or EUR',
  parse: (text) => (text === DEFAULT_CURRENCY || hasTwoDecimals(text) ? text : undefined),
})

function hasTwoDecimals(code: string): boolean {
  if (!/^[A-Z]{3}$/.test(code) || WHOLE_UNITS.includes(code)) return false
  if (!Intl.supportedValuesOf('currency').includes(code)) return false
  const format = new Intl.NumberFormat('en', { style: 'currency', currency: code })
  return format.resolvedOptions().maximumFractionDigits === TWO_DECIMALS
}

const publicUrl = httpsUrl('a loopback host', isLoopbackHost)

/** The settings of payments; the channels are tables of their own. */
export const PAYMENT_SETTINGS = {
  'payments.currency': setting(currency, {
    description: 'The currency of all orders, with two decimals. WeChat Pay and Alipay take CNY only.',
    default: DEFAULT_CURRENCY,
  }),
  'payments.public_url': setting(publicUrl, {
    description:
      'Where providers reach `/payments/callbacks/<channel>` of the api or the gateway: https, except on this machine. Payment channels need it.',
  }),
  'payments.time_zone': setting(timeZone, {
    description:
      'The time zone of `payments.reconcile_at`, and of the days of Stripe; the books of WeChat Pay and Alipay have the days of Beijing.',
    default: 'Asia/Shanghai',
  }),
  'payments.reconcile_at': setting(timeOfDay, {
    description: 'When the worker compares the day before with the books of the providers.',
    default: '10:30', // docs/specification.md, Payments
  }),
  'payments.refund_late': setting(trueOrFalse, {
    description: 'Refund payments that came late or twice without a person.',
    default: 'false',
  }),
} as const satisfies Record<string, unknown>

const kindReader = readerOf(choice(CHANNEL_KINDS))
const pathReader = readerOf(path)
const urlReader = readerOf(publicUrl)

/** Reads the table `[payments.channels.<name>]`; undefined if it has a fault. */
export function parsePaymentChannel(name: string, entry: TableReader): PaymentChannelConfig | undefined {
  if (!CHANNEL_NAME.test(name))
    entry.reportExpected(
      [],
      'a name of 1 to 32 small letters, digits, hyphens or underscores that begins with a letter',
    )
  entry.refuseOthers('kind', 'secrets_file', 'api_url')
  const kind = entry.readRequired('kind', kindReader)
  const secretsFile = entry.readRequired('secrets_file', pathReader)
  const apiUrl = entry.read('api_url', urlReader) ?? ''
  if (entry.isFaulty || kind === undefined || secretsFile === undefined) return undefined
  return { name, kind, secretsFile, apiUrl, source: entry.place().source }
}

/** What is wrong with the channels in view of the other settings. */
export function channelProblems(
  channels: readonly PaymentChannelConfig[],
  settings: { readonly currency: string | undefined; readonly publicUrl: string | undefined },
): Problem[] {
  return channels.flatMap(({ name, kind, source }) => {
    const key = `payments.channels.${name}`
    const problems: Problem[] = []
    if (settings.publicUrl === undefined)
      problems.push({ source, key, expected: 'payments.public_url beside it' })
    if (CNY_ONLY.includes(kind) && settings.currency !== undefined && settings.currency !== 'CNY') {
      const expected = `a kind that takes payments.currency, ${settings.currency}; ${kind} takes CNY only`
      problems.push({ source, key: `${key}.kind`, expected })
    }
    return problems
  })
}

/**
 * The variables of the secrets file of a channel; `X_FILE` is here as `X`, with the text of its file. Throws a
 * {@link ConfigError} that names the file and the variable, never a value.
 */
export function readChannelSecrets({
  name,
  kind,
  secretsFile,
}: PaymentChannelConfig): Record<string, string> {
  const key = `payments.channels.${name}.secrets_file`
  const variables = parseEnv(readPrivateText(secretsFile, key, MAX_SECRETS_BYTES))
  const secrets: Record<string, string> = {}
  for (const variable of SECRETS[kind]) {
    const value = variables[variable]
    // Some secrets are lists with commas, which must not be empty.
    if (value === undefined || /^[\s,]*$/.test(value))
      throw unusableFile(secretsFile, key, `a line ${variable}=…`, 'none')
    const bytes = Buffer.byteLength(value)
    if (variable === APIV3_KEY && bytes !== APIV3_KEY_BYTES)
      throw unusableFile(secretsFile, key, `${variable} of ${APIV3_KEY_BYTES} bytes`, `${bytes} bytes`)
    if (variable.endsWith('_FILE'))
      secrets[variable.slice(0, -'_FILE'.length)] = readKey(secretsFile, key, variable, value)
    else secrets[variable] = value
  }
  return secrets
}

/** A relative path begins at the secrets file. */
function readKey(secretsFile: string, key: string, variable: string, value: string): string {
  const path = resolve(dirname(secretsFile), value)
  const isPrivate = variable.includes('_PRIVATE_')
  const place = `${key}: ${variable}`
  const text = readPrivateText(path, place, MAX_SECRETS_BYTES)
  try {
    const { asymmetricKeyType } = isPrivate ? createPrivateKey(text) : createPublicKey(text)
    if (asymmetricKeyType === 'rsa') return text
  } catch {
    // The error of the parser may quote the key.
  }
  const expected = `an RSA ${isPrivate ? 'private' : 'public'} key in PEM`
  throw unusableFile(path, place, expected, 'another text')
}
