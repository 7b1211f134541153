import { setTimeout as pause } from 'node:timers/promises'
import { isRecord } from '../../src/kernel/text.ts'
import { MINUTE, SECOND } from '../../src/kernel/time.ts'
import type { ScenarioRules } from '../mock-server/scenario-script.ts'
import { DELAY, type RegularAnswer } from '../mock-server/scenarios.ts'
import { apiError, storeError, type Answer, type ByteStream, type JsonObject } from './answers.ts'
import { ENDPOINT_NAMES, type EndpointName } from './endpoint-names.ts'

/** What a scenario can do with its request besides answering it regularly. */
export interface ScenarioContext extends RegularAnswer<Answer> {
  readonly endpoint: EndpointName
  /** Reads that many bytes of the body, or all of it. */
  discard(bytes?: number): Promise<void>
  /** Makes the access token of the request expire. */
  expireToken(): void
  revokeTokens(): void
  /** Makes the signed URL of the request expire. */
  expireUrl(): void
}

/** `reset` resets the connection instead of answering. */
export type Outcome = Answer | 'reset'

export interface Scenario extends ScenarioRules<EndpointName> {
  run(context: ScenarioContext, option: number): Promise<Outcome>
}

const JSON_ENDPOINTS = ENDPOINT_NAMES.filter((name) => name !== 'put' && name !== 'download')
const TOKEN_ENDPOINTS = JSON_ENDPOINTS.filter((name) => name !== 'access_token')
const STORE_ENDPOINTS: readonly EndpointName[] = ['put', 'download']
const PART_ENDPOINTS: readonly EndpointName[] = ['put', 'uploadPart']
const RECORD_ENDPOINTS: readonly EndpointName[] = [
  'complete',
  'get',
  'get_by_path',
  'batch_get',
  'list',
  'search',
  'getDownloadUrl',
]

/** All scenarios. How a client should react: docs/guide/mock-drive.md. */
export const SCENARIOS = {
  delay: { endpoints: ENDPOINT_NAMES, ...DELAY },
  reset: { endpoints: ENDPOINT_NAMES, run: async () => 'reset' },
  lost_answer: {
    endpoints: ENDPOINT_NAMES,
    async run({ answer }) {
      await answer()
      return 'reset'
    },
  },
  cut: {
    endpoints: STORE_ENDPOINTS,
    option: { name: 'after_bytes', default: 1_000, minimum: 0, maximum: 2 ** 40 },
    async run({ endpoint, answer, discard }, bytes) {
      if (endpoint === 'download') return withChunks(await answer(), (chunks) => cutAfter(chunks, bytes))
      await discard(bytes)
      return 'reset'
    },
  },
  slow: {
    endpoints: ['download'],
    option: { name: 'bytes_per_second', default: 1_024, minimum: 1, maximum: 2 ** 40 },
    run: async ({ answer, signal }, rate) =>
      withChunks(await answer(), (chunks) => sendSlowly(chunks, rate, signal)),
  },
  rate_limited: {
    endpoints: ENDPOINT_NAMES,
    option: { name: 'retry_after_ms', default: 1_000, minimum: 0, maximum: 60 * MINUTE },
    async run(_, milliseconds) {
      const answer = apiError(429, 'TooManyRequests', 'Too Many Requests')
      return { ...answer, headers: { ...answer.headers, 'x-retry-after': String(milliseconds) } }
    },
  },
  server_error: {
    endpoints: ENDPOINT_NAMES,
    option: { name: 'status', default: 500, minimum: 500, maximum: 599 },
    run: async (_, status) => apiError(status, 'InternalError', 'The drive cannot answer at the moment.'),
  },
  html_error: {
    endpoints: ENDPOINT_NAMES,
    option: { name: 'status', default: 502, minimum: 400, maximum: 599 },
    run: async (_, status) => ({
      status,
      headers: { 'Content-Type': 'text/html; charset=utf-8' },
      body: `<!doctype html><title>${status}</title><h1>${status}</h1><p>The gateway has no answer.</p>`,
      error: 'html',
    }),
  },
  truncated_json: {
    endpoints: JSON_ENDPOINTS,
    run: async ({ answer }) => withText(await answer(), (text) => text.slice(0, text.length / 2)),
  },
  expired_token: {
    endpoints: TOKEN_ENDPOINTS,
    async run({ answer, expireToken }) {
      expireToken()
      return answer()
    },
  },
  revoked_token: {
    endpoints: JSON_ENDPOINTS,
    async run({ answer, revokeTokens }) {
      revokeTokens()
      return answer()
    },
  },
  expired_url: {
    endpoints: STORE_ENDPOINTS,
    async run({ answer, expireUrl }) {
      expireUrl()
      return answer()
    },
  },
  no_upload_urls: {
    endpoints: ['create'],
    run: async ({ answer }) => withMembers(await answer(), ({ upload_url: _, ...others }) => others),
  },
  lost_part: {
    endpoints: PART_ENDPOINTS,
    async run({ endpoint, discard }) {
      await discard()
      const etag = '"D41D8CD98F00B204E9800998ECF8427E"'
      const body = endpoint === 'put' ? '' : JSON.stringify({ etag })
      return { status: 200, headers: { ETag: etag }, body }
    },
  },
  wrong_hash: {
    endpoints: RECORD_ENDPOINTS,
    run: async ({ answer }) =>
      withMembers(await answer(), (each) =>
        typeof each['content_hash'] === 'string' ? { ...each, content_hash: WRONG_SHA1 } : each,
      ),
  },
  wrong_size: {
    endpoints: RECORD_ENDPOINTS,
    run: async ({ answer }) =>
      withMembers(await answer(), (each) =>
        typeof each['size'] === 'number' ? { ...each, size: each['size'] - 1 } : each,
      ),
  },
  wrong_bytes: {
    endpoints: ['download'],
    run: async ({ answer }) => withChunks(await answer(), flipFirstBit),
  },
  full: {
    endpoints: ['create', 'complete', ...PART_ENDPOINTS],
    run: async ({ endpoint }) =>
      endpoint === 'put'
        ? storeError(403, 'QuotaExhausted.Drive', 'The drive has no space left.')
        : apiError(403, 'QuotaExhausted.Drive', 'The drive has no space left.'),
  },
} as const satisfies Record<string, Scenario>

export type ScenarioName = keyof typeof SCENARIOS

export const SCENARIO_NAMES = Object.keys(SCENARIOS) as ScenarioName[]

const WRONG_SHA1 = '0'.repeat(40)

function withText(answer: Answer, edit: (text: string) => string): Answer {
  return typeof answer.body === 'string' ? { ...answer, body: edit(answer.body) } : answer
}

/** Edits every object in the body of a success answer. */
function withMembers(answer: Answer, edit: (members: JsonObject) => JsonObject): Answer {
  if (answer.status !== 200) return answer
  const reviver = (_: string, value: unknown): unknown => (isRecord(value) ? edit(value) : value)
  return withText(answer, (text) => JSON.stringify(JSON.parse(text, reviver)))
}

function withChunks(
  answer: Answer,
  edit: (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>,
): Answer {
  if (typeof answer.body === 'string') return answer
  const { length, chunks }: ByteStream = answer.body
  return { ...answer, body: { length, chunks: () => edit(chunks()) } }
}

async function* cutAfter(chunks: AsyncIterable<Uint8Array>, bytes: number): AsyncIterable<Uint8Array> {
  let left = bytes
  for await (const chunk of chunks) {
    yield chunk.subarray(0, left)
    left -= chunk.length
    if (left <= 0) throw new Error('cut by a scenario')
  }
}

// Ten steps in a second
const STEP_MS = 100

async function* sendSlowly(
  chunks: AsyncIterable<Uint8Array>,
  bytesPerSecond: number,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  const step = Math.max(1, Math.floor((bytesPerSecond * STEP_MS) / SECOND))
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += step) {
      await pause(STEP_MS, undefined, { signal })
      yield chunk.subarray(at, at + step)
    }
  }
}

async function* flipFirstBit(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let isFirst = true
  for await (const chunk of chunks) {
    const copy = Uint8Array.from(chunk)
    if (isFirst) copy[0] = (copy[0] ?? 0) ^ 1
    isFirst = false
    yield copy
  }
}
