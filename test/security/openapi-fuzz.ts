import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Api } from '../integration/http/client.ts'
import { bodySchema, type Place } from '../integration/http/document.ts'
import type { Answer, ErrorAnswer } from '../integration/http/traffic.ts'
import { draftsOf, toCurl, toSent, type Draft } from './openapi-fuzz/drafts.ts'
import { createKnownIds, type KnownIds } from './openapi-fuzz/known-ids.ts'
import { MUTATORS } from './openapi-fuzz/mutators.ts'

export interface FuzzOptions {
  readonly api: Api
  /** At least so many. */
  readonly requests: number
  readonly seed: number
  /** Texts that no answer may contain. */
  readonly secrets: readonly string[]
}

export interface FuzzOutcome {
  readonly requests: number
  /** How often each operation was answered with each status. */
  readonly statuses: ReadonlyMap<string, ReadonlyMap<number, number>>
  /** The mutators that were used. */
  readonly mutators: ReadonlySet<string>
}

/** A call: as the document lets it through, or broken in a way that has a name. */
interface Step {
  readonly draft: Draft
  readonly broken: string | undefined
}

const STEPS_IN_A_SEQUENCE = 20
const SEQUENCES_IN_A_ROUND = 10
// A password is hashed for a third of a second on a slow machine.
const SLOW_WEIGHT = 1
const USUAL_WEIGHT = 8

/**
 * Sends sequences of requests that are made from the OpenAPI document, half of them broken on purpose, and judges every
 * answer. Fails with the shortest sequence that it finds, as commands that repeat it.
 */
export async function fuzz({ api, requests, seed, secrets }: FuzzOptions): Promise<FuzzOutcome> {
  const known = createKnownIds()
  const run = { requests: 0, statuses: new Map<string, Map<number, number>>(), mutators: new Set<string>() }
  const sequences = fc.array(stepsOf(api.places), {
    minLength: 1,
    maxLength: STEPS_IN_A_SEQUENCE,
    size: 'max',
  })
  let commands: string[] = []
  const property = fc.asyncProperty(sequences, async (steps) => {
    const sent: string[] = []
    try {
      for (const step of steps) {
        sent.push(toCurl(api.platform.url, toSent(step.draft, known)))
        await take(step, { api, known, secrets, run })
      }
    } catch (error) {
      commands = sent
      throw error
    }
  })
  for (let round = 0; run.requests < requests; round++) {
    const result = await fc.check(property, { seed: seed + round, numRuns: SEQUENCES_IN_A_ROUND })
    if (result.failed) throw failure(result.errorInstance, seed, commands)
  }
  return run
}

interface Round {
  readonly api: Api
  readonly known: KnownIds
  readonly secrets: readonly string[]
  readonly run: {
    requests: number
    readonly statuses: Map<string, Map<number, number>>
    readonly mutators: Set<string>
  }
}

/** Sends one request; the client fails for a 5xx, and for what the document does not declare. */
async function take({ draft, broken }: Step, { api, known, secrets, run }: Round): Promise<void> {
  const answer = await api.send(toSent(draft, known))
  run.requests++
  judge(answer, broken, secrets)
  if (broken) run.mutators.add(broken)
  else known.learn(draft.place.path, answer)
  const counts = run.statuses.getOrInsertComputed(
    draft.place.operation.operationId,
    () => new Map<number, number>(),
  )
  counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1)
}

/** Refusals that say that a request is not one of this API, which a good one is. */
const NOT_FOR_GOOD_ONES = [
  'unauthenticated',
  'forbidden',
  'route_not_found',
  'method_not_allowed',
  'malformed_json',
  'payload_too_large',
  'unsupported_media_type',
]
const INSIDES = /pbkdf2-sha256\$|file:\/\/|node_modules|\n {4}at |SQLITE_|syntax error at/

function judge(
  { status, headers, text }: Answer,
  broken: string | undefined,
  secrets: readonly string[],
): void {
  const what = `${broken ?? 'a good request'} → ${status} ${text.slice(0, 500)}`
  for (const secret of secrets) assert.ok(!text.includes(secret), `a secret in ${what}`)
  // The file of a data backup is a whole database, the hashes of its passwords included.
  if (headers['content-type'] !== 'application/octet-stream') assert.doesNotMatch(text, INSIDES, what)
  if (broken) assert.ok(status >= 400, what)
  if (status < 400) return
  const error = JSON.parse(text) as ErrorAnswer | string
  // The intake of Prometheus answers with a text, as an Alertmanager does; the client has checked the document.
  if (typeof error === 'string') return
  assert.deepEqual([typeof error.code, typeof error.message], ['string', 'string'], what)
  if (!broken) assert.ok(!NOT_FOR_GOOD_ONES.includes(error.code), what)
}

function stepsOf(places: readonly Place[]): fc.Arbitrary<Step> {
  return fc.oneof(...places.map((place) => ({ weight: weightOf(place), arbitrary: stepsAt(place) })))
}

function stepsAt(place: Place): fc.Arbitrary<Step> {
  const good = draftsOf(place)
  const broken = good.chain((draft) => {
    const ways = MUTATORS.flatMap(({ name, mutate }) => {
      const drafts = mutate(draft)
      return drafts.length > 0
        ? [fc.record({ draft: fc.constantFrom(...drafts), broken: fc.constant(name) })]
        : []
    })
    return fc.oneof(...ways)
  })
  return fc.oneof(
    good.map((draft): Step => ({ draft, broken: undefined })),
    broken,
  )
}

function weightOf({ operation }: Place): number {
  return 'password' in (bodySchema(operation)?.properties ?? {}) ? SLOW_WEIGHT : USUAL_WEIGHT
}

function failure(cause: unknown, seed: number, commands: readonly string[]): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new Error(`${reason}\nSEED=${seed}; it was this:\n${commands.join('\n')}`, { cause })
}
