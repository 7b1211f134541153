import { isRecord, jsonValueOf } from '../../src/kernel/text.ts'
import { parseScenarios } from '../mock-server/scenario-script.ts'
import {
  anyText,
  bindAddress,
  port,
  readConfig,
  secretText,
  type ConfigOf,
  type MockEnvironment,
  type Variable,
} from '../mock-server/variables.ts'
import { isIssuerUrl, isRedirectUri } from './addresses.ts'
import { BUILT_IN_IDENTITY, type UserIdentity } from './identity.ts'
import { SCENARIOS } from './scenarios.ts'

export const TOKEN_MODES = ['ok', 'idp_error', 'http500'] as const
export type TokenMode = (typeof TOKEN_MODES)[number]

const textIf = (isValid: (text: string) => boolean) => (text: string) => (isValid(text) ? text : undefined)
// Unlike the flags of the other mocks it takes any text; only 1 turns it on.
const lenientFlag = { default: '0', expected: '0 or 1', parse: (text: string): boolean => text === '1' }

/** Every variable, in the order of docs/guide/mock-oidc.md. */
const VARIABLES = {
  /** May have port 0, which stands for the port that the system chooses. */
  issuer: {
    name: 'MOCK_ISSUER',
    default: 'http://203.0.113.10:8088',
    expected: 'an absolute http or https URL without query and fragment',
    parse: textIf(isIssuerUrl),
  },
  bind: { name: 'MOCK_BIND', ...bindAddress },
  port: { name: 'MOCK_PORT', default: '8088', ...port },
  clientId: { name: 'MOCK_CLIENT_ID', default: 'cli_mock_docvalue_0001', ...anyText },
  clientSecret: { name: 'MOCK_CLIENT_SECRET', default: 'mock_secret_docvalue_0001', ...secretText },
  /** Where `/authorize` redirects to when the request has no `redirect_uri`. */
  redirectUri: {
    name: 'MOCK_REDIRECT_URI',
    default: 'http://127.0.0.1:9989/auth/oauth/callback',
    expected: 'an absolute http or https URL without a fragment',
    parse: textIf(isRedirectUri),
  },
  tokenMode: {
    name: 'MOCK_TOKEN_MODE',
    default: 'ok',
    expected: `one of ${TOKEN_MODES.join(', ')}`,
    parse: (text: string) => TOKEN_MODES.find((mode) => mode === text),
  },
  requireForm: { name: 'MOCK_REQUIRE_FORM', ...lenientFlag },
  user: { name: 'MOCK_USER_JSON', default: '{}', expected: 'a JSON object', parse: parseUser },
  scenarios: {
    name: 'MOCK_SCENARIOS',
    default: '[]',
    expected: 'a JSON array of scenarios',
    parse: (text: string) => parseScenarios(text, SCENARIOS),
  },
  /** Whether each request is logged. */
  log: { name: 'MOCK_LOG', ...lenientFlag },
} as const satisfies Record<string, Variable>

/** The names of all variables. */
export const VARIABLE_NAMES = Object.values(VARIABLES).map(({ name }) => name)

export type MockConfig = ConfigOf<typeof VARIABLES>

/** Throws a `ValueError` for the first invalid variable. */
export function readMockConfig(env: MockEnvironment): MockConfig {
  return readConfig(env, VARIABLES)
}

const EMPTY: readonly unknown[] = ['{}', '[]', '""', 'null', 'false', '0']

/** docs/specification.md, Mock provider: an empty value falls back to the built-in identity. */
function parseUser(value: string): UserIdentity | undefined {
  const user = jsonValueOf(value)
  if (EMPTY.includes(JSON.stringify(user))) return BUILT_IN_IDENTITY
  return isRecord(user) ? user : undefined
}
