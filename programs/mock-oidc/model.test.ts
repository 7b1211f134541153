import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { HOUR, MINUTE } from '../../src/kernel/time.ts'
import { fakeClock, type FakeClock } from '../../test/support/clock.ts'
import {
  CLIENT_ID,
  CLIENT_SECRET,
  newPkce,
  queryOf,
  REDIRECT_URI,
  startTestProvider,
  type TestProvider,
} from '../../test/support/mock-oidc.ts'

// A second, simplest implementation of the provider: a list of codes and lists of tokens.

const VERIFIERS = [newPkce(), newPkce()]
const OTHER_URI = 'http://127.0.0.1:1/other'

interface ModelCode {
  readonly text: string
  readonly requested: AuthorizeRequest
  readonly at: number
  used: boolean
}

interface ModelToken {
  readonly text: string
  readonly at: number
}

interface Model {
  now: number
  readonly codes: ModelCode[]
  readonly accessTokens: ModelToken[]
  readonly refreshTokens: (ModelToken & { used: boolean })[]
}

interface Real {
  readonly provider: TestProvider
  readonly clock: FakeClock
}

interface AuthorizeRequest {
  readonly client: string
  readonly redirect: string | undefined
  readonly challenge: string | undefined
  readonly method: string | undefined
}

interface TokenRequest {
  readonly which: number
  readonly client: string
  readonly secret: string
  readonly redirect: string | undefined
  readonly verifier: string | undefined
}

type Command = fc.AsyncCommand<Model, Real>

/** 200 for success, otherwise Feishu's error number. */
function expectedOf(model: Model, code: ModelCode | undefined, presented: TokenRequest): number {
  const { requested } = code ?? {}
  const failures: readonly (readonly [fails: boolean, number: number])[] = [
    [!code, 20003],
    [code?.used === true, 20065],
    [model.now - (code?.at ?? 0) >= 10 * MINUTE, 20004],
    [presented.client !== CLIENT_ID, 20048],
    [requested?.client !== presented.client, 20024],
    [presented.secret !== CLIENT_SECRET, 20002],
    [presented.redirect === undefined && requested?.redirect !== undefined, 20001],
    [presented.redirect !== undefined && presented.redirect !== (requested?.redirect ?? REDIRECT_URI), 20071],
    [!passesPkce(requested, presented.verifier), 20049],
  ]
  return failures.find(([fails]) => fails)?.[1] ?? 200
}

function passesPkce(requested: AuthorizeRequest | undefined, verifier: string | undefined): boolean {
  if (requested?.challenge === undefined) return verifier === undefined
  const pair = VERIFIERS.find(({ code_verifier }) => code_verifier === verifier)
  return requested.method === 'S256' && pair?.code_challenge === requested.challenge
}

const authorize = (requested: AuthorizeRequest): Command => ({
  check: () => true,
  async run(model, { provider }) {
    const answer = await provider.authorize({
      client_id: requested.client,
      redirect_uri: requested.redirect,
      code_challenge: requested.challenge,
      code_challenge_method: requested.method,
    })
    assert.ok(answer.headers.location?.startsWith(`${requested.redirect ?? REDIRECT_URI}?code=`))
    model.codes.push({ text: queryOf(answer).get('code') ?? '', requested, at: model.now, used: false })
  },
  toString: () => `authorize(${JSON.stringify(requested)})`,
})

const exchange = (presented: TokenRequest): Command => ({
  check: () => true,
  async run(model, { provider }) {
    const code = model.codes.at(presented.which)
    const expected = expectedOf(model, code, presented)
    const answer = await provider.token({
      code: code?.text ?? 'none',
      client_id: presented.client,
      client_secret: presented.secret,
      redirect_uri: presented.redirect,
      code_verifier: presented.verifier,
    })
    const result = answer.json()
    assert.equal(result['code'] ?? answer.status, expected)
    if (answer.status !== 200) return
    if (code) code.used = true
    remember(model, result)
  },
  toString: () => `exchange(${JSON.stringify(presented)})`,
})

const refresh = (which: number, secret: string): Command => ({
  check: ({ refreshTokens }) => refreshTokens.length > 0,
  async run(model, { provider }) {
    const token = model.refreshTokens.at(which % model.refreshTokens.length)
    const answer = await provider.token({
      grant_type: 'refresh_token',
      refresh_token: token?.text,
      client_secret: secret,
      redirect_uri: undefined,
    })
    const result = answer.json()
    const failed = token?.used ? 20073 : secret === CLIENT_SECRET ? undefined : 20002
    assert.equal(result['code'] ?? answer.status, failed ?? 200)
    if (failed !== undefined) return
    if (token) token.used = true
    remember(model, result)
  },
  toString: () => `refresh(${which}, ${secret})`,
})

const userinfo = (which: number): Command => ({
  check: () => true,
  async run(model, { provider }) {
    const token = model.accessTokens.at(which)
    const isGood = token !== undefined && model.now - token.at < 2 * HOUR
    assert.equal((await provider.userinfo(token?.text ?? 'u-none')).status, isGood ? 200 : 401)
  },
  toString: () => `userinfo(${which})`,
})

const wait = (forMs: number): Command => ({
  check: () => true,
  async run(model, { clock }) {
    model.now += forMs
    clock.advance(forMs)
  },
  toString: () => `wait(${forMs})`,
})

function remember(model: Model, result: Readonly<Record<string, unknown>>): void {
  model.accessTokens.push({ text: String(result['access_token']), at: model.now })
  model.refreshTokens.push({ text: String(result['refresh_token']), at: model.now, used: false })
}

// Mostly valid values, or few sequences would get past the first check.
const mostly = <T>(right: T, ...others: readonly T[]) =>
  fc.oneof(
    { weight: 16, arbitrary: fc.constant(right) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  )
// The newest, or one that may not exist
const WHICH = fc.oneof(fc.constant(-1), fc.integer({ min: -3, max: 4 }))
const [first, second] = VERIFIERS as [(typeof VERIFIERS)[number], (typeof VERIFIERS)[number]]

const COMMANDS = [
  fc
    .record<AuthorizeRequest>({
      client: mostly(CLIENT_ID, 'other'),
      redirect: mostly<string | undefined>(REDIRECT_URI, OTHER_URI, undefined),
      challenge: mostly<string | undefined>(first.code_challenge, second.code_challenge, undefined),
      method: mostly<string | undefined>('S256', 'plain', undefined),
    })
    .map(authorize),
  fc
    .record<TokenRequest>({
      which: WHICH,
      client: mostly(CLIENT_ID, 'other'),
      secret: mostly(CLIENT_SECRET, 'other'),
      redirect: mostly<string | undefined>(REDIRECT_URI, OTHER_URI, undefined),
      verifier: mostly<string | undefined>(first.code_verifier, second.code_verifier, undefined),
    })
    .map(exchange),
  fc
    .tuple(fc.nat({ max: 8 }), mostly(CLIENT_SECRET, 'other'))
    .map(([which, secret]) => refresh(which, secret)),
  WHICH.map(userinfo),
  fc.constantFrom(1_000, 10 * MINUTE - 1, 10 * MINUTE, HOUR).map(wait),
]

test('any sequence of requests gets the answers of the model', async () => {
  const clock = fakeClock()
  await using provider = await startTestProvider({}, clock)
  let exchanged = 0
  await fc.assert(
    fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 40, size: 'max' }), async (commands) => {
      const model: Model = { now: 0, codes: [], accessTokens: [], refreshTokens: [] }
      await fc.asyncModelRun(() => ({ model, real: { provider, clock } }), commands)
      exchanged += model.accessTokens.length
    }),
    { numRuns: 150 },
  )
  // A run without successful exchanges would test little.
  assert.ok(exchanged > 50, `${exchanged} exchanges succeeded`)
})
