import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../kernel/errors.ts'
import { Secret } from '../../kernel/secret.ts'
import { createLogger } from './logger.ts'

const CANARY = 'kAnAr1+9/Zq7wXe'
const base64 = (text: string): string => Buffer.from(text).toString('base64')

// An encoded secret is a leak too. Base64 depends on where in a group of three bytes the text begins.
const TRACES = [
  CANARY,
  CANARY.slice(3),
  CANARY.slice(-6),
  encodeURIComponent(CANARY),
  encodeURIComponent(encodeURIComponent(CANARY)),
  CANARY.split('').toReversed().join(''),
  base64(CANARY),
  base64(CANARY).replaceAll('+', '-').replaceAll('/', '_'),
  ...['_', '__'].map((before) => base64(`${before}${CANARY}`).slice(4, -4)),
]

function assertNoTrace(printed: string): void {
  const found = TRACES.find((trace) => printed.includes(trace))
  assert.equal(found, undefined, `${found} in ${printed}`)
}

/** Everything that the log prints of the value, at every place of a line. */
function everyPrint(value: unknown): string {
  const lines: string[] = []
  for (const format of ['json', 'pretty'] as const) {
    const { logger } = createLogger({
      level: 'debug',
      format,
      destination: { write: (line) => lines.push(line) },
    })
    logger.info({ value }, 'seen')
    logger.child({ value }).warn({}, 'seen by a child')
    if (typeof value === 'string') logger.error({}, value)
    if (typeof value === 'object' && value !== null)
      logger.debug(value as Record<string, unknown>, 'as fields')
  }
  return lines.join('')
}

const CLAIMS = base64(JSON.stringify({ sub: CANARY })).replaceAll('=', '')
const JWT = `eyJhbGciOiJIUzI1NiJ9.${CLAIMS}.${base64(CANARY)}`
const PRIVATE_KEY = `-----BEGIN PRIVATE KEY-----\n${base64(CANARY)}\n-----END PRIVATE KEY-----`
const encoded = encodeURIComponent(CANARY)

const TEXTS: readonly (readonly [kind: string, text: string])[] = [
  ['a bearer token', `sent Bearer ${CANARY} to the api`],
  ['a bearer token, URL-encoded', `h=Bearer%20${encoded}`],
  ['a bearer token of the web socket', `bearer.${JWT}`],
  ['basic credentials', `Authorization: Basic ${base64(`user:${CANARY}`)}`],
  ['basic credentials without their header', `basic ${base64(`user:${CANARY}`)}`],
  ['a mail login', `C: AUTH PLAIN ${base64(`\0user\0${CANARY}`)}`],
  ['a JWT', `verify ${JWT} failed`],
  ['a JWT that was cut', `verify eyJhbGciOiJIUzI1NiJ9.${CLAIMS}`],
  ['a token in a query', `GET /callback?x=1&access_token=${encoded}&y=2`],
  ['a code and a verifier in a query', `GET /callback?code=${encoded}&code_verifier=${encoded}`],
  ['a code in a form', `code=${encoded}&grant_type=authorization_code`],
  ['a refresh token in a form', `grant_type=refresh_token&refresh_token=${encoded}&client_secret=${encoded}`],
  ['an encoded URL in a query', `next=${encodeURIComponent(`https://x/cb?token=${encoded}&a=1`)}`],
  ['a URL encoded twice', encodeURIComponent(encodeURIComponent(`https://x/cb?token=${CANARY}`))],
  ['a password in prose', `login failed, password=${CANARY}, user=bob`],
  ['a password with a comma', `password=a,${CANARY}`],
  ['a password with a quote', `password=a"${CANARY}`],
  ['a password after a colon', `Password: ${CANARY}`],
  ['a name of two words', `the api key: ${CANARY}`],
  ['JSON', `rejected {"user":"bob","password":"${CANARY}"}`],
  ['JSON with a quote in the value', `{"password":"a\\"${CANARY}"}`],
  ['JSON within JSON', JSON.stringify({ body: JSON.stringify({ client_secret: `a"${CANARY}` }) })],
  ['JSON thrice', JSON.stringify(JSON.stringify(JSON.stringify({ client_secret: `a"${CANARY}` })))],
  ['JSON, URL-encoded', encodeURIComponent(JSON.stringify({ password: CANARY }))],
  ['JSON in HTML', `{&quot;password&quot;:&quot;${CANARY}&quot;}`],
  ['JSON in base64', base64(JSON.stringify({ a: CANARY }))],
  ['an inspected object', `{ headers: { 'set-cookie': [ 'a=1', 'sid=${CANARY}' ] } }`],
  ['an inspected secret of several words', `{ password: 'one two ${CANARY}' }`],
  ['a property access', `headers["x-api-key"]=${CANARY}`],
  ['a cookie header', `GET / HTTP/1.1\r\nCookie: a=1; sid=${CANARY}; b=2\r\nHost: x`],
  ['raw headers', `[ 'Cookie', 'a=1; sid=${CANARY}' ]`],
  ['a URL with a user', `connect nats://user:${CANARY.replace('/', '')}@host:4222 failed`],
  ['a URL with a user and a slash in the password', `postgres://user:${CANARY}@host/db`],
  ['a URL with an at sign in the password', `nats://user:p@${CANARY.replace('/', '')}@host`],
  ['a URL with a token for a user', `nats://${CANARY.replace('/', '')}@host`],
  ['several URLs', `nats://a:b@h1,nats://u:${CANARY}@h2`],
  ['an encoded URL with a user', encodeURIComponent(`nats://user:${CANARY}@host`)],
  ['a user without a scheme', `user:${CANARY.replace('/', '')}@host:5432`],
  ['a private key', `read ${PRIVATE_KEY} from disk`],
  ['a private key on one line', JSON.stringify({ text: PRIVATE_KEY.replace('PRIVATE', 'RSA PRIVATE') })],
  ['a private key that was cut', PRIVATE_KEY.slice(0, 50)],
  ['a private key in base64', base64(PRIVATE_KEY)],
  ['a password hash', `row pbkdf2-sha256$600000$${base64('salt')}$${base64(CANARY)} of users`],
  ['a bcrypt hash', `row $2b$12$${CANARY}`],
  ['a Feishu robot', `POST https://open.feishu.cn/open-apis/bot/v2/hook/${CANARY} failed`],
  [
    'a Feishu robot, URL-encoded',
    encodeURIComponent(`https://open.feishu.cn/open-apis/bot/v2/hook/${CANARY}`),
  ],
  [
    'a DingTalk robot',
    `POST https://oapi.dingtalk.com/robot/send?access_token=${CANARY}&timestamp=1&sign=${encoded}`,
  ],
  ['a WeCom robot', `POST https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=${CANARY}`],
  ['a Slack robot', `POST https://hooks.slack.com/services/T0001/B0002/${CANARY}`],
  ['a Telegram robot', `https://api.telegram.org/bot123:${CANARY.replaceAll(/[+/]/g, '-')}/send`],
  ['a coloured name', `\u001b[36mpassword\u001b[39m=${CANARY}`],
  ['a secret after a long text', `${'x '.repeat(4_000)} token=${CANARY}`],
  ['a secret across the cut', `${'x'.repeat(8_180)} token=${CANARY} ${'y'.repeat(5_000)}`],
  ['many secrets across the cut', `token=${'a'.repeat(90)} `.repeat(95) + ` token=${CANARY}`.repeat(30)],
]

for (const [kind, text] of TEXTS) {
  test(`${kind} in a text is not printed`, () => {
    assertNoTrace(everyPrint(text))
    assertNoTrace(everyPrint(new Error(text, { cause: new Error(`because ${text}`) })))
    assertNoTrace(everyPrint({ deep: [{ er: text }] }))
  })
}

test('a bus seed is not printed', () => {
  const seed = `SUA${'CANARY2'.repeat(8).slice(0, 55)}`
  assert.ok(!everyPrint(`nkey ${seed} refused`).includes('CANARY2CANARY2'))
})

const canaryBytes = Buffer.from(CANARY)

class Session {
  readonly user = 'bob'
  readonly #raw: string
  constructor(raw: string) {
    this.#raw = raw
  }
  toJSON(): unknown {
    return { user: this.user, refresh_token: this.#raw, note: `Bearer ${this.#raw}` }
  }
}

const SHAPES: readonly (readonly [shape: string, make: () => unknown])[] = [
  ['a Secret', () => ({ value: new Secret(CANARY), list: [new Secret(CANARY)] })],
  ['a Map', () => new Map([['password', CANARY]])],
  ['a Map whose key is a secret', () => new Map([[JWT, 1]])],
  ['a key that is a secret', () => ({ [`token=${CANARY}`]: 1, [JWT]: 2 })],
  ['a Set', () => new Set([`token=${CANARY}`])],
  ['a list of entries', () => [['password', CANARY]]],
  ['raw headers', () => ['Host', 'x', 'Cookie', `sid=${CANARY}`]],
  ['a pair of name and value', () => [{ name: 'X-Api-Key', value: CANARY }]],
  ['fetch headers', () => new Headers({ authorization: CANARY, cookie: `sid=${CANARY}` })],
  ['search parameters', () => new URLSearchParams({ access_token: CANARY })],
  ['a form', () => formOf('client_secret', CANARY)],
  ['a URL', () => new URL(`https://user:${encoded}@host/?access_token=${encoded}`)],
  ['a secret that is a number', () => ({ pin: 48_151_623 })],
  ['an object under a secret name', () => ({ credentials: { user: 'bob', value: CANARY } })],
  ['a list under a secret name', () => ({ tokens: [CANARY, [CANARY]] })],
  [
    'bytes',
    () => ({ body: canaryBytes, view: new Uint8Array(canaryBytes), raw: new Uint8Array(canaryBytes).buffer }),
  ],
  ['bytes under a secret name', () => ({ secret: canaryBytes })],
  ['a boxed string', () => ({ note: Object(`token=${CANARY}`) as unknown })],
  ['a symbol', () => ({ note: Symbol(`token=${CANARY}`) })],
  ['a key object', () => ({ object: createSecretKey(canaryBytes) })],
  ['an instance with toJSON', () => ({ session: new Session(CANARY) })],
  [
    'a class instance',
    () => ({ login: Object.assign(Object.create({ kind: 'x' }) as object, { password: CANARY }) }),
  ],
  [
    'an error',
    () => new AppError('internal', 'internal', `token=${CANARY}`, { cause: { authorization: CANARY } }),
  ],
  [
    'an error with fields',
    () => Object.assign(new Error('x'), { config: { headers: { Authorization: CANARY } } }),
  ],
  ['an aggregate', () => new AggregateError([new Error(`Bearer ${CANARY}`)], 'all failed')],
  [
    'a suppressed error',
    () => new SuppressedError(new Error(`token=${CANARY}`), new Error(`token=${CANARY}`)),
  ],
  ['an error of another name', () => new DOMException(`token=${CANARY}`)],
  ['a robot', () => ({ alerts: { robot: { kind: 'generic', url: `https://example.org/${CANARY}` } } })],
  ['a token request', () => ({ grant_type: 'authorization_code', code: CANARY })],
  ['a private JWK', () => ({ kty: 'oct', k: CANARY, d: CANARY })],
  ['a mail transport', () => ({ auth: { user: 'a', pass: CANARY } })],
  ['options of a request', () => ({ auth: `user:${CANARY}` })],
  ['an emitter', () => Object.assign(new EventEmitter(), { _header: CANARY })],
]

function formOf(name: string, value: string): FormData {
  const form = new FormData()
  form.set(name, value)
  return form
}

for (const [shape, make] of SHAPES) {
  test(`a secret in ${shape} is not printed, at any depth`, () => {
    for (const nest of [(value: unknown) => value, (value: unknown) => ({ a: [{ b: { c: value } }] })]) {
      const printed = everyPrint(nest(make()))
      assertNoTrace(printed)
      assert.ok(!printed.includes('48151623'))
    }
  })
}

const SECRET_NAMES =
  'password accessToken client-secret Set-Cookie X-API-Key jwt pem password_hash webhook_url pin'.split(' ')

test('a secret under a sensitive name is never printed, at any place of any value', () => {
  const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.double(), fc.bigInt())
  const secretEntry = fc.record({
    name: fc.constantFrom(...SECRET_NAMES),
    value: fc.constantFrom<unknown>(CANARY, [CANARY], { a: CANARY }, new Set([CANARY]), new Error(CANARY)),
    shape: fc.constantFrom('object', 'map', 'error', 'entries'),
  })
  const holder = fc
    .tuple(fc.dictionary(fc.string(), leaf), secretEntry)
    .map(([others, { name, value, shape }]) => {
      if (shape === 'map') return new Map<string, unknown>([...Object.entries(others), [name, value]])
      if (shape === 'error') return Object.assign(new Error('x'), { [name]: value })
      if (shape === 'entries') return [[name, value]]
      return { ...others, [name]: value }
    })
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 6, depthSize: 'medium' },
      holder,
      fc.array(tie('tree'), { minLength: 1, maxLength: 3 }),
      fc.dictionary(fc.string(), tie('tree'), { minKeys: 1, maxKeys: 3 }),
      tie('tree').map((cause) => new Error('outer', { cause })),
      tie('tree').map((value) => ({ toJSON: () => value })),
    ),
  }))
  fc.assert(
    fc.property(tree, (value) => assertNoTrace(everyPrint(value))),
    { numRuns: 300 },
  )
})
