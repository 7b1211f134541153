import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from './config.ts'
import { readChannelSecrets } from './payments.ts'

function configWorld() {
  const directory = mkdtempSync(join(tmpdir(), 'payments-config-'))
  const write = (name: string, text: string, mode = 0o600) => {
    writeFileSync(join(directory, name), text)
    chmodSync(join(directory, name), mode)
  }
  return {
    write,
    load(toml: string) {
      write('platform.toml', toml)
      return loadConfig({ env: {}, cwd: directory }).config.payments
    },
    secretsOf(kind: 'stripe' | 'alipay') {
      const secretsFile = join(directory, 'pay.env')
      return readChannelSecrets({ name: 'shop', kind, secretsFile, apiUrl: '', source: '' })
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  }
}

const URL_LINE = '[payments]\npublic_url = "https://shop.example.org"\n'
const channel = (kind: string) =>
  `[payments.channels.shop]\nkind = "${kind}"\nsecrets_file = "/etc/pay.env"\n`

test('a channel of the file is in the configuration', () => {
  using w = configWorld()
  const [shop] = w.load(`${URL_LINE}${channel('wechatpay')}`).channels
  assert.deepEqual([shop?.name, shop?.kind, shop?.secretsFile], ['shop', 'wechatpay', '/etc/pay.env'])
  assert.deepEqual(w.load('').channels, [])
})

for (const [what, toml, message] of [
  [
    'of an unknown kind',
    `${URL_LINE}${channel('paypal')}`,
    /platform\.toml:4: payments\.channels\.shop\.kind: expected one of/,
  ],
  [
    'without a secrets file',
    `${URL_LINE}[payments.channels.shop]\nkind = "stripe"`,
    /shop\.secrets_file: expected a path/,
  ],
  [
    'with an unknown key',
    `${URL_LINE}${channel('stripe')}secret = "x"`,
    /shop\.secret: expected a known key/,
  ],
  [
    'with a name in capitals',
    `${URL_LINE}${channel('stripe').replace('shop', 'SHOP')}`,
    /expected a name of 1 to 32/,
  ],
  ['without a public address', channel('stripe'), /expected payments\.public_url beside it/],
  [
    'that takes another currency',
    `[payments]\npublic_url = "https://x.example"\ncurrency = "EUR"\n${channel('alipay')}`,
    /takes CNY only/,
  ],
] as const) {
  test(`a channel ${what} is refused`, () => {
    using w = configWorld()
    assert.throws(() => w.load(toml), { name: 'ConfigError', message })
  })
}

test('only currencies with two decimals are taken, and https except on loopback', () => {
  using w = configWorld()
  for (const currency of ['JPY', 'KWD', 'HUF', 'XXY', 'cny'])
    assert.throws(() => w.load(`payments.currency = "${currency}"`), /with two decimals/, currency)
  assert.throws(() => w.load('payments.public_url = "http://shop.example.org"'), /expected an https/)
  assert.equal(w.load('payments.public_url = "http://127.0.0.1:9600"').publicUrl, 'http://127.0.0.1:9600')
})

test('the secrets file must be private and complete, and its keys RSA; no message has a value', () => {
  using w = configWorld()
  const refused = (message: RegExp, kind: 'stripe' | 'alipay' = 'stripe') =>
    assert.throws(
      () => w.secretsOf(kind),
      (error: Error) => {
        assert.match(error.message, message)
        assert.doesNotMatch(error.message, /sk_canary/)
        return error.name === 'ConfigError'
      },
    )
  refused(/a file that this user can read, got ENOENT/)
  const stripe = 'STRIPE_SECRET_KEY=sk_canary\nSTRIPE_WEBHOOK_SECRET=whsec_canary,whsec_new\n'
  w.write('pay.env', stripe, 0o644)
  refused(/mode 600/)
  w.write('pay.env', 'STRIPE_SECRET_KEY=sk_canary\n')
  refused(/a line STRIPE_WEBHOOK_SECRET=…/)
  w.write('pay.env', stripe.replace('whsec_canary,whsec_new', '" , "'))
  refused(/a line STRIPE_WEBHOOK_SECRET=…/)
  w.write('pay.env', stripe)
  assert.deepEqual(w.secretsOf('stripe'), {
    STRIPE_SECRET_KEY: 'sk_canary',
    STRIPE_WEBHOOK_SECRET: 'whsec_canary,whsec_new',
  })
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  w.write(
    'pay.env',
    'ALIPAY_APP_ID=1\nALIPAY_SELLER_ID=2\nALIPAY_PRIVATE_KEY_FILE=a.pem\nALIPAY_PUBLIC_KEY_FILE=b.pem\n',
  )
  w.write('a.pem', 'sk_canary')
  refused(/ALIPAY_PRIVATE_KEY_FILE: expected an RSA private key in PEM/, 'alipay')
  w.write('a.pem', privateKey)
  w.write('b.pem', publicKey)
  assert.deepEqual(Object.keys(w.secretsOf('alipay')).toSorted(), [
    'ALIPAY_APP_ID',
    'ALIPAY_PRIVATE_KEY',
    'ALIPAY_PUBLIC_KEY',
    'ALIPAY_SELLER_ID',
  ])
})
