import type { ScenarioRules } from '../mock-server/scenario-script.ts'
import { DELAY, type RegularAnswer } from '../mock-server/scenarios.ts'
import type { Answer } from './answers.ts'
import { ENDPOINT_NAMES, type EndpointName } from './endpoint-names.ts'

/** What a scenario can do with its request besides answering it regularly. */
export interface ScenarioContext extends RegularAnswer<Answer> {
  /** Makes the code in the request expire. */
  expireCode(): void
  rotateKey(): Promise<void>
}

/** `reset` resets the connection instead of answering. */
export type Outcome = Answer | 'reset'

export interface Scenario extends ScenarioRules<EndpointName> {
  run(context: ScenarioContext, option: number): Promise<Outcome>
}

const JSON_ENDPOINTS = ['discovery', 'token', 'userinfo', 'jwks'] as const
const HTML = 'text/html; charset=utf-8'

/** All scenarios. How a client should react: docs/guide/mock-oidc.md. */
export const SCENARIOS = {
  delay: { endpoints: ENDPOINT_NAMES, ...DELAY },
  reset: { endpoints: ENDPOINT_NAMES, run: async () => 'reset' },
  truncated_json: {
    endpoints: JSON_ENDPOINTS,
    run: async ({ answer }) => withBody(await answer(), (body) => body.slice(0, body.length / 2)),
  },
  wrong_content_type: {
    endpoints: JSON_ENDPOINTS,
    run: async ({ answer }) => withContentType(await answer(), HTML),
  },
  expires_in_string: {
    endpoints: ['token'],
    run: async ({ answer }) =>
      withTokens(await answer(), (tokens) => ({ ...tokens, expires_in: String(tokens['expires_in']) })),
  },
  expired_code: {
    endpoints: ['token'],
    async run({ answer, expireCode }) {
      expireCode()
      return answer()
    },
  },
  missing_access_token: {
    endpoints: ['token'],
    run: async ({ answer }) => withTokens(await answer(), ({ access_token: _, ...others }) => others),
  },
  rotated_key: {
    endpoints: ['token'],
    async run({ answer, rotateKey }) {
      await rotateKey()
      return answer()
    },
  },
  rate_limited: {
    endpoints: ENDPOINT_NAMES,
    option: { name: 'retry_after_seconds', default: 1, minimum: 0, maximum: 3_600 },
    run: async (_, seconds) => ({
      status: 429,
      headers: {
        'Content-Type': 'application/json; charset=utf-8',
        'Cache-Control': 'no-store',
        'Retry-After': String(seconds),
      },
      body: JSON.stringify({
        error: 'temporarily_unavailable',
        error_description: `scenario: too many requests, retry in ${seconds} s`,
        code: 20072,
      }),
      refusal: { check: 'scenario', error: 'temporarily_unavailable', code: 20072 },
    }),
  },
  html_error: {
    endpoints: ENDPOINT_NAMES,
    option: { name: 'status', default: 502, minimum: 500, maximum: 599 },
    run: async (_, status) => ({
      status,
      headers: { 'Content-Type': HTML },
      body: `<!doctype html><title>${status}</title><h1>${status}</h1><p>The upstream server is not available.</p>`,
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

/** Changes success answers only. */
function withTokens(
  answer: Answer,
  change: (tokens: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
): Answer {
  if (answer.status !== 200) return answer
  return withBody(answer, (body) => JSON.stringify(change(JSON.parse(body) as Record<string, unknown>)))
}
