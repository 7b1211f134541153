import { setTimeout as pause } from 'node:timers/promises'
import { MINUTE, SECOND } from '../../src/kernel/time.ts'
import type { Answer } from './answers.ts'
import { ENDPOINT_NAMES, type EndpointName } from './endpoint-names.ts'

/** A request that trouble happens to, as far as a scenario can influence it. */
export interface Performance {
  /** Does what the endpoint does. */
  answer(): Promise<Answer>
  /** Ends the time of the code that the request presents. */
  expireCode(): void
  rotateKey(): Promise<void>
  /** Aborted when nobody can wait any longer. */
  readonly signal: AbortSignal
}

/** `reset` cuts the connection instead of answering. */
export type Outcome = Answer | 'reset'

export interface Scenario {
  /** The endpoints at which it makes sense. */
  readonly on: readonly EndpointName[]
  /** The one number that can be given with it. */
  readonly option?: ScenarioOption
  play(performance: Performance, option: number): Promise<Outcome>
}

export interface ScenarioOption {
  readonly name: string
  readonly default: number
  readonly minimum: number
  readonly maximum: number
}

const JSON_ENDPOINTS = ['discovery', 'token', 'userinfo', 'jwks'] as const
const HTML = 'text/html; charset=utf-8'

/** Everything that `MOCK_SCENARIOS` can script. What a good client does: docs/guide/mock-oidc.md. */
export const SCENARIOS = {
  delay: {
    on: ENDPOINT_NAMES,
    option: { name: 'delay_ms', default: 2 * SECOND, minimum: 1, maximum: 10 * MINUTE },
    async play({ answer, signal }, delayMs) {
      const late = await answer()
      await pause(delayMs, undefined, { signal })
      return late
    },
  },
  reset: { on: ENDPOINT_NAMES, play: async () => 'reset' },
  truncated_json: {
    on: JSON_ENDPOINTS,
    play: async ({ answer }) => withBody(await answer(), (body) => body.slice(0, body.length / 2)),
  },
  wrong_content_type: {
    on: JSON_ENDPOINTS,
    play: async ({ answer }) => withContentType(await answer(), HTML),
  },
  expires_in_string: {
    on: ['token'],
    play: async ({ answer }) =>
      withTokens(await answer(), (tokens) => ({ ...tokens, expires_in: String(tokens['expires_in']) })),
  },
  expired_code: {
    on: ['token'],
    async play({ answer, expireCode }) {
      expireCode()
      return answer()
    },
  },
  missing_access_token: {
    on: ['token'],
    play: async ({ answer }) => withTokens(await answer(), ({ access_token: _, ...others }) => others),
  },
  rotated_key: {
    on: ['token'],
    async play({ answer, rotateKey }) {
      await rotateKey()
      return answer()
    },
  },
  rate_limited: {
    on: ENDPOINT_NAMES,
    option: { name: 'retry_after_seconds', default: 1, minimum: 0, maximum: 3_600 },
    play: async (_, seconds) => ({
      status: 429,
      headers: {
        'Content-Type': 'application/json; charset=utf-8',
        'Cache-Control': 'no-store',
        'Retry-After': String(seconds),
      },
      body: JSON.stringify({
        error: 'temporarily_unavailable',
        error_description: `scenario: too many requests, come back in ${seconds} s`,
        code: 20072,
      }),
      refusal: { check: 'scenario', error: 'temporarily_unavailable', code: 20072 },
    }),
  },
  html_error: {
    on: ENDPOINT_NAMES,
    option: { name: 'status', default: 502, minimum: 500, maximum: 599 },
    play: async (_, status) => ({
      status,
      headers: { 'Content-Type': HTML },
      body: `<!doctype html><title>${status}</title><h1>${status}</h1><p>The server behind this one is away.</p>`,
      refusal: { check: 'scenario', error: 'server_error' },
    }),
  },
} as const satisfies Record<string, Scenario>

export type ScenarioName = keyof typeof SCENARIOS

export const SCENARIO_NAMES = Object.keys(SCENARIOS) as ScenarioName[]

function withBody(answer: Answer, change: (body: string) => string): Answer {
  return { ...answer, body: change(answer.body) }
}

function withContentType(answer: Answer, contentType: string): Answer {
  return { ...answer, headers: { ...answer.headers, 'Content-Type': contentType } }
}

/** A refusal stays what it is. */
function withTokens(
  answer: Answer,
  change: (tokens: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
): Answer {
  if (answer.status !== 200) return answer
  return withBody(answer, (body) => JSON.stringify(change(JSON.parse(body) as Record<string, unknown>)))
}
