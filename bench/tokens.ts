import { randomBytes } from 'node:crypto'
import { createAuthenticator } from '../src/domains/users/authenticator.ts'
import {
  CHECKSUM_CHARACTERS,
  newTokenText,
  withChecksum,
} from '../src/domains/users/api-tokens/token-text.ts'
import { ApiTokens, Users } from '../src/domains/users/index.ts'
import { createPasswords } from '../src/infra/passwords/pbkdf2.ts'
import { createTokens } from '../src/infra/tokens/jwt.ts'
import { systemClock } from '../src/kernel/clock.ts'
import type { Identity } from '../src/kernel/identity.ts'
import { silentLogger } from '../src/kernel/logger.ts'
import { Secret } from '../src/kernel/secret.ts'
import { HOUR } from '../src/kernel/time.ts'
import type { Authenticator } from '../src/ports/authentication.ts'
import { testStore } from '../test/support/store.ts'
import { NO_SESSIONS, usersOf } from '../test/support/users.ts'
import type { Bench } from './support/bench.ts'
import type { Measure } from './support/measure.ts'
import type { RoundOptions } from './support/rounds.ts'
import { spreadOf, welchT } from './support/statistics.ts'

const TOKENS = { full: 1_000_000, small: 3_000 }
const WARM_UP = 20_000
const BATCH = 500
/** Of each kind, so that the characters of a single one do not count. */
const VALID = 16

/** Whether the time of a refusal tells how near a token is to a valid one. */
export const tokens: Bench = {
  name: 'tokens',
  title: 'P24: refused tokens',
  summary:
    'the time of a refusal of near misses of a valid token, and of an invented one: a million of each kind',

  async run(options) {
    await using world = await openWorld()
    const count = options.small ? TOKENS.small : TOKENS.full
    const kinds = { 'API tokens': apiTokens(world.apiTokens), 'tokens of logins': loginTokens(world.logins) }
    const measures: Measure[] = []
    for (const [kind, classes] of Object.entries(kinds)) {
      options.onSlice(`round 1 of 1: ${kind}`)
      const times = await timeRefusals(world.authenticator, classes, count, options)
      measures.push(...measuresOf(kind, times))
    }
    return measures
  },
}

const ADMIN: Identity = { id: 'bench', name: 'bench', roles: ['admin'], via: 'headers' }

/** A user with API tokens and tokens of logins. */
async function openWorld() {
  await using stack = new AsyncDisposableStack()
  const { store } = stack.use(await testStore('sqlite', systemClock))
  const shared = { store, clock: systemClock, logger: silentLogger, sessions: NO_SESSIONS }
  const service = new Users({ ...shared, passwords: createPasswords({ iterations: 1 }) })
  const apiTokensOf = new ApiTokens({ ...shared, users: service })
  const user = await usersOf(store, service).create({
    name: 'ada',
    password: 'a heavy brass telescope',
    roles: ['devops'],
  })
  const secrets = [new Secret(randomBytes(48).toString('base64url'))] as const
  const issuer = createTokens({ secrets, clock: systemClock, ttlMs: HOUR })
  const apiTokens: string[] = []
  for (let made = 0; made < VALID; made++) {
    const wanted = { name: `cash desk ${made}` }
    const { token } = await store.write((tx) => apiTokensOf.create(tx, user.id, wanted, ADMIN))
    apiTokens.push(token.reveal())
  }
  const authenticator = createAuthenticator({
    store,
    clock: systemClock,
    logger: silentLogger,
    users: service,
    apiTokens: apiTokensOf,
    ended: { isFresh: true, has: () => false, refresh: async () => undefined },
    tokens: issuer,
  })
  const login = () => issuer.sign({ ...user, userId: user.id, generation: 0 }).token
  const kept = stack.move()
  return {
    authenticator,
    apiTokens,
    logins: Array.from({ length: VALID }, login),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Makes the tokens of a class; no two are the same. */
type Classes = Readonly<Record<string, () => string>>

/** How many characters at the end of the secret part are wrong. */
const NEARNESS = { 'the first half is right': 20, 'all but the last 4 are right': 4 }
const CONTROL = ', of no token'

/** A near miss has a valid checksum: one without is refused before it is looked up. */
function apiTokens(valid: readonly string[]): Classes {
  const withoutChecksum = (text: string) => text.slice(0, -CHECKSUM_CHARACTERS)
  return classesOf(valid.map(withoutChecksum), () => withoutChecksum(newTokenText()), withChecksum)
}

/** Near misses differ in the signature. */
function loginTokens(valid: readonly string[]): Classes {
  const invent = (like: string) =>
    like.slice(0, like.lastIndexOf('.') + 1) + randomBytes(32).toString('base64url')
  return classesOf(valid, invent, (text) => text)
}

/**
 * Near misses of valid tokens, and as a control what is as near to some that nobody has made: tokens that resemble each other
 * are refused a little faster than others, because the processor foresees their characters, and that tells nothing of any valid one.
 */
function classesOf(
  valid: readonly string[],
  invent: (like: string) => string,
  complete: (text: string) => string,
): Classes {
  const invented = valid.map(invent)
  const made = Object.entries(NEARNESS).flatMap(([name, wrong]) => [
    [name, () => complete(missOf(valid, wrong, invent))] as const,
    [name + CONTROL, () => complete(missOf(invented, wrong, invent))] as const,
  ])
  return Object.fromEntries(made)
}

function missOf(tokens: readonly string[], wrong: number, invent: (like: string) => string): string {
  const like = tokens[Math.floor(Math.random() * tokens.length)] ?? ''
  for (;;) {
    const miss = like.slice(0, -wrong) + invent(like).slice(-wrong)
    if (miss !== like) return miss
  }
}

/** The times in nanoseconds, by class. The classes take turns at random. */
async function timeRefusals(
  authenticator: Pick<Authenticator, 'authenticate'>,
  classes: Classes,
  count: number,
  { signal }: Pick<RoundOptions, 'signal'>,
): Promise<ReadonlyMap<string, number[]>> {
  const times = new Map(Object.keys(classes).map((name) => [name, [] as number[]]))
  for (let number = -WARM_UP; number < count; number += BATCH) {
    signal.throwIfAborted()
    for (const { name, text } of batchOf(classes)) {
      const time = await timeOfRefusal(authenticator, text)
      if (number >= 0) times.get(name)?.push(time)
    }
  }
  return times
}

/** Made before any of them is timed: what makes a token of one class must not slow down what follows it. */
function batchOf(classes: Classes): { name: string; text: string }[] {
  const entries = Object.entries(classes)
  return Array.from({ length: BATCH }, () => {
    const [name, make] = entries[Math.floor(Math.random() * entries.length)] ?? ['', newTokenText]
    // In one piece of memory: a text that was put together would be copied when it is read first.
    return { name, text: Buffer.from(make(), 'latin1').toString('latin1') }
  })
}

async function timeOfRefusal(
  authenticator: Pick<Authenticator, 'authenticate'>,
  text: string,
): Promise<number> {
  const begin = process.hrtime.bigint()
  try {
    await authenticator.authenticate(text)
  } catch {
    return Number(process.hrtime.bigint() - begin)
  }
  throw new Error('a near miss was accepted')
}

// As in "Dude, is my code constant time?" (DATE 2017): beyond this, the times differ.
const MUST = { must: { atMost: 4.5 } }

function measuresOf(kind: string, times: ReadonlyMap<string, number[]>): Measure[] {
  return Object.keys(NEARNESS).map((name) => ({
    what: `${kind}, ${name}: |t| against its control`,
    values: spreadOf([Math.abs(welchT(times.get(name) ?? [], times.get(name + CONTROL) ?? []))]),
    ...MUST,
  }))
}
