import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAssignments } from '../files/assignments.ts'
import { ValueError } from '../mock-server/value-error.ts'
import { randomDigits } from './fields.ts'
import { TEST_PRIVATE_KEY } from './test-key.ts'

export interface StripeSecrets {
  readonly secretKey: string
  readonly webhookSecret: string
}

/** The keys of both sides of a provider that signs with RSA. */
export interface RsaKeys {
  readonly merchantPublicKey: KeyObject
  readonly providerKey: KeyObject
}

export interface WechatPaySecrets extends RsaKeys {
  readonly mchid: string
  readonly appid: string
  readonly apiV3Key: string
  readonly serialNo: string
  readonly publicKeyId: string
}

export interface AlipaySecrets extends RsaKeys {
  readonly appId: string
  readonly sellerId: string
}

export interface PaySecrets {
  readonly stripe: StripeSecrets
  readonly wechatpay: WechatPaySecrets
  readonly alipay: AlipaySecrets
}

/** The values of docs/guide/mock-pay.md. Both sides use the same key. */
export const TEST_VALUES = {
  stripe: {
    STRIPE_SECRET_KEY: 'sk_test_mock_docvalue_0001',
    STRIPE_WEBHOOK_SECRET: 'whsec_mock_docvalue_0001',
  },
  wechatpay: {
    WECHATPAY_MCHID: '1900000001',
    WECHATPAY_APPID: 'wxmockdocvalue0001',
    WECHATPAY_APIV3_KEY: 'mock_docvalue_0001_of_32_letters',
    WECHATPAY_SERIAL_NO: '00000000000000000000000000000000000000A1',
    WECHATPAY_PUBLIC_KEY_ID: 'PUB_KEY_ID_0000000000000000000000000001',
  },
  alipay: { ALIPAY_APP_ID: '2026000000000001', ALIPAY_SELLER_ID: '2088000000000001' },
} as const

type ChannelName = keyof typeof TEST_VALUES
type Values = Readonly<Record<ChannelName, Readonly<Record<string, string>>>>

export function testSecrets(): PaySecrets {
  const key = createPrivateKey(TEST_PRIVATE_KEY)
  const keys = { merchantPublicKey: createPublicKey(key), providerKey: key }
  return toSecrets(TEST_VALUES, { wechatpay: keys, alipay: keys })
}

function toSecrets(values: Values, keys: Readonly<Record<'wechatpay' | 'alipay', RsaKeys>>): PaySecrets {
  const read = (channel: ChannelName, name: string) => {
    const value = values[channel][name]
    if (value === undefined)
      throw new ValueError(`MOCK_PAY_SECRETS_DIR: expected ${name} in pay-${channel}.env`)
    return value
  }
  return {
    stripe: {
      secretKey: read('stripe', 'STRIPE_SECRET_KEY'),
      webhookSecret: read('stripe', 'STRIPE_WEBHOOK_SECRET'),
    },
    wechatpay: {
      ...keys.wechatpay,
      mchid: read('wechatpay', 'WECHATPAY_MCHID'),
      appid: read('wechatpay', 'WECHATPAY_APPID'),
      apiV3Key: read('wechatpay', 'WECHATPAY_APIV3_KEY'),
      serialNo: read('wechatpay', 'WECHATPAY_SERIAL_NO'),
      publicKeyId: read('wechatpay', 'WECHATPAY_PUBLIC_KEY_ID'),
    },
    alipay: {
      ...keys.alipay,
      appId: read('alipay', 'ALIPAY_APP_ID'),
      sellerId: read('alipay', 'ALIPAY_SELLER_ID'),
    },
  }
}

const randomValues = (): Values => ({
  stripe: { STRIPE_SECRET_KEY: `sk_test_${hex(24)}`, STRIPE_WEBHOOK_SECRET: `whsec_${hex(24)}` },
  wechatpay: {
    WECHATPAY_MCHID: `19${randomDigits(8)}`,
    WECHATPAY_APPID: `wx${hex(8)}`,
    WECHATPAY_APIV3_KEY: hex(16),
    WECHATPAY_SERIAL_NO: hex(20).toUpperCase(),
    WECHATPAY_PUBLIC_KEY_ID: `PUB_KEY_ID_${randomDigits(28)}`,
  },
  alipay: { ALIPAY_APP_ID: `2026${randomDigits(12)}`, ALIPAY_SELLER_ID: `2088${randomDigits(12)}` },
})

const hex = (bytes: number) => randomBytes(bytes).toString('hex')

const RSA_CHANNELS = ['wechatpay', 'alipay'] as const
// The name of each key file by its variable; `provider` is the private key of this program itself, which its next start
// reads.
const KEY_FILES = {
  PRIVATE_KEY_FILE: 'merchant-private',
  PUBLIC_KEY_FILE: 'provider-public',
  provider: 'provider-private',
}

const envFile = (directory: string, channel: string) => join(directory, `pay-${channel}.env`)
const keyFile = (directory: string, channel: string, kind: string) =>
  join(directory, `pay-${channel}-${kind}.pem`)

/** Reads the secrets in a directory. The first start makes them, so that a platform can keep its configuration. */
export function openSecrets(directory: string): PaySecrets {
  if (!Object.keys(TEST_VALUES).every((channel) => existsSync(envFile(directory, channel))))
    writeSecrets(directory)
  const read = (channel: string) =>
    Object.fromEntries(parseAssignments(readFileSync(envFile(directory, channel), 'utf8')))
  const values = { stripe: read('stripe'), wechatpay: read('wechatpay'), alipay: read('alipay') }
  return toSecrets(values, {
    wechatpay: readKeys(directory, 'wechatpay'),
    alipay: readKeys(directory, 'alipay'),
  })
}

function writeSecrets(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  for (const channel of RSA_CHANNELS) writeKeys(directory, channel)
  for (const [channel, values] of Object.entries(randomValues())) {
    const prefix = channel.toUpperCase()
    const files = ['PRIVATE_KEY_FILE', 'PUBLIC_KEY_FILE'] as const
    const lines = [
      ...Object.entries(values),
      ...(channel === 'stripe'
        ? []
        : files.map((name) => [`${prefix}_${name}`, keyFile(directory, channel, KEY_FILES[name])])),
    ].map(([name, value]) => `${name}=${value}\n`)
    writePrivate(envFile(directory, channel), lines.join(''))
  }
}

function writeKeys(directory: string, channel: string): void {
  const [merchant, provider] = [newKey(), newKey()]
  writePrivate(keyFile(directory, channel, KEY_FILES.PRIVATE_KEY_FILE), privatePem(merchant))
  writePrivate(keyFile(directory, channel, KEY_FILES.provider), privatePem(provider))
  writePrivate(
    keyFile(directory, channel, KEY_FILES.PUBLIC_KEY_FILE),
    String(createPublicKey(provider).export({ type: 'spki', format: 'pem' })),
  )
}

const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey
const privatePem = (key: KeyObject) => String(key.export({ type: 'pkcs8', format: 'pem' }))

function readKeys(directory: string, channel: string): RsaKeys {
  const key = (kind: string) => createPrivateKey(readFileSync(keyFile(directory, channel, kind)))
  return {
    merchantPublicKey: createPublicKey(key(KEY_FILES.PRIVATE_KEY_FILE)),
    providerKey: key(KEY_FILES.provider),
  }
}

function writePrivate(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 })
}
