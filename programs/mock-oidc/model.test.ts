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

// What the provider must do, said a second time and in the simplest way: a list of codes, a list of tokens.

const VERIFIERS = [newPkce(), newPkce()]
const OTHER_URI = 'http://127.0.0.1:1/other'

interface ModelCode {
  readonly text: string
  readonly asked: Ask
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

interface Ask {
  readonly client: string
  readonly redirect: string | undefined
  readonly challenge: string | undefined
  readonly method: string | undefined
}

interface Present {
  readonly which: number
  readonly client: string
  readonly secret: string
  readonly redirect: string | undefined
  readonly verifier: string | undefined
}

type Command = fc.AsyncCommand<Model, Real>

/** Success is 200, everything else the number that Feishu gives for it. */
function expectedOf(model: Model, code: ModelCode | undefined, present: Present): number {
  const { asked } = code ?? {}
  const failures: readonly (readonly [fails: boolean, number: number])[] = [
    [!code, 20003],
    [code?.used === true, 20065],
    [model.now - (code?.at ?? 0) >= 10 * MINUTE, 20004],
    [present.client !== CLIENT_ID, 20048],
    [asked?.client !== present.client, 20024],
    [present.secret !== CLIENT_SECRET, 20002],
    [present.redirect === undefined && asked?.redirect !== undefined, 20001],
    [present.redirect !== undefined && present.redirect !== (asked?.redirect ?? REDIRECT_URI), 20071],
    [!passesPkce(asked, present.verifier), 20049],
  ]
  return failures.find(([fails]) => fails)?.[1] ?? 200
}

function passesPkce(asked: Ask | undefined, verifier: string | undefined): boolean {
  if (asked?.challenge === undefined) return verifier === undefined
  const pair = VERIFIERS.find(({ code_verifier }) => code_verifier === verifier)
  return asked.method === 'S256' && pair?.code_challenge === asked.challenge
}

const authorize = (asked: Ask): Command => ({
  check: () => true,
  async run(model, { provider }) {
    const answer = await provider.authorize({
      client_id: asked.client,
      redirect_uri: asked.redirect,
      code_challenge: asked.challenge,
      code_challenge_method: asked.method,
    })
    assert.ok(answer.headers.location?.startsWith(`${asked.redirect ?? REDIRECT_URI}?code=`))
    model.codes.push({ text: queryOf(answer).get('code') ?? '', asked, at: model.now, used: false })
  },
  toString: () => `authorize(${JSON.stringify(asked)})`,
})

const exchange = (present: Present): Command => ({
  check: () => true,
  async run(model, { provider }) {
    const code = model.codes.at(present.which)
    const expected = expectedOf(model, code, present)
    const answer = await provider.token({
      code: code?.text ?? 'none',
      client_id: present.client,
      client_secret: present.secret,
      redirect_uri: present.redirect,
      code_verifier: present.verifier,
    })
    const told = answer.json()
    assert.equal(told['code'] ?? answer.status, expected)
    if (answer.status !== 200) return
    if (code) code.used = true
    remember(model, told)
  },
  toString: () => `exchange(${JSON.stringify(present)})`,
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
    const told = answer.json()
    const failed = token?.used ? 20073 : secret === CLIENT_SECRET ? undefined : 20002
    assert.equal(told['code'] ?? answer.status, failed ?? 200)
    if (failed !== undefined) return
    if (token) token.used = true
    remember(model, told)
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

function remember(model: Model, told: Readonly<Record<string, unknown>>): void {
  model.accessTokens.push({ text: String(told['access_token']), at: model.now })
  model.refreshTokens.push({ text: String(told['refresh_token']), at: model.now, used: false })
}

// Mostly right, or a sequence would seldom get beyond the first check.
const mostly = <T>(right: T, ...others: readonly T[]) =>
  fc.oneof(
    { weight: 16, arbitrary: fc.constant(right) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  )
// The newest, or one that may not be there.
const WHICH = fc.oneof(fc.constant(-1), fc.integer({ min: -3, max: 4 }))
const [first, second] = VERIFIERS as [(typeof VERIFIERS)[number], (typeof VERIFIERS)[number]]

const COMMANDS = [
  fc
    .record<Ask>({
      client: mostly(CLIENT_ID, 'other'),
      redirect: mostly<string | undefined>(REDIRECT_URI, OTHER_URI, undefined),
      challenge: mostly<string | undefined>(first.code_challenge, second.code_challenge, undefined),
      method: mostly<string | undefined>('S256', 'plain', undefined),
    })
    .map(authorize),
  fc
    .record<Present>({
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

test('any sequence of calls agrees with the model', async () => {
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
  // A run in which nothing ever succeeds would show little.
  assert.ok(exchanged > 50, `${exchanged} exchanges succeeded`)
})
