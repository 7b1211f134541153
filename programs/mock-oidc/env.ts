import { Secret } from '../../src/kernel/secret.ts'
import { isRecord, jsonValueOf } from '../../src/kernel/text.ts'
import { parseScenarios, type ScriptedScenario } from '../mock-server/scenario-script.ts'
import {
  anyText,
  bindAddress,
  port,
  readVariables,
  type MockEnvironment,
  type Variable,
} from '../mock-server/variables.ts'
import { isIssuerUrl, isRedirectUri } from './addresses.ts'
import type { EndpointName } from './endpoint-names.ts'
import { BUILT_IN_IDENTITY, type UserIdentity } from './identity.ts'
import { SCENARIOS, type ScenarioName } from './scenarios.ts'

export const TOKEN_MODES = ['ok', 'idp_error', 'http500'] as const
export type TokenMode = (typeof TOKEN_MODES)[number]

/** The validated configuration. */
export interface MockConfig {
  /** May have port 0, which stands for the port that the system chooses. */
  readonly issuer: string
  readonly bind: string
  readonly port: number
  readonly clientId: string
  readonly clientSecret: Secret
  /** Where `/authorize` redirects to when the request has no `redirect_uri`. */
  readonly redirectUri: string
  readonly tokenMode: TokenMode
  readonly requireForm: boolean
  readonly user: UserIdentity
  readonly scenarios: readonly ScriptedScenario<EndpointName, ScenarioName>[]
  /** Whether each request is logged. */
  readonly log: boolean
}

const textIf = (isValid: (text: string) => boolean) => (text: string) => (isValid(text) ? text : undefined)
// docs/specification.md, Mock provider: any other text than 1 is 0.
const lenientFlag = { default: '0', expected: '0 or 1', parse: (text: string): boolean => text === '1' }

/** Every variable, in the order of docs/guide/mock-oidc.md. */
const VARIABLES = {
  MOCK_ISSUER: {
    default: 'http://203.0.113.10:8088',
    expected: 'an absolute http or https URL without query and fragment',
    parse: textIf(isIssuerUrl),
  },
  MOCK_BIND: bindAddress,
  MOCK_PORT: { default: '8088', ...port },
  MOCK_CLIENT_ID: { default: 'cli_mock_docvalue_0001', ...anyText },
  MOCK_CLIENT_SECRET: { default: 'mock_secret_docvalue_0001', ...anyText },
  MOCK_REDIRECT_URI: {
    default: 'http://127.0.0.1:9989/auth/oauth/callback',
    expected: 'an absolute http or https URL without a fragment',
    parse: textIf(isRedirectUri),
  },
  MOCK_TOKEN_MODE: {
    default: 'ok',
    expected: `one of ${TOKEN_MODES.join(', ')}`,
    parse: (each: string) => TOKEN_MODES.find((mode) => mode === each),
  },
  MOCK_REQUIRE_FORM: lenientFlag,
  MOCK_USER_JSON: { default: '{}', expected: 'a JSON object', parse: parseUser },
  MOCK_SCENARIOS: {
    default: '[]',
    expected: 'a JSON array of scenarios',
    parse: (text: string) => parseScenarios(text, SCENARIOS),
  },
  MOCK_LOG: lenientFlag,
} as const satisfies Record<string, Variable<unknown>>

/** The names of all variables. */
export const VARIABLE_NAMES = Object.keys(VARIABLES)

/** Throws a `ValueError` for the first invalid variable. */
export function readMockConfig(env: MockEnvironment): MockConfig {
  const values = readVariables(env, VARIABLES)
  return {
    issuer: values.MOCK_ISSUER,
    bind: values.MOCK_BIND,
    port: values.MOCK_PORT,
    clientId: values.MOCK_CLIENT_ID,
    clientSecret: new Secret(values.MOCK_CLIENT_SECRET),
    redirectUri: values.MOCK_REDIRECT_URI,
    tokenMode: values.MOCK_TOKEN_MODE,
    requireForm: values.MOCK_REQUIRE_FORM,
    user: values.MOCK_USER_JSON,
    scenarios: values.MOCK_SCENARIOS,
    log: values.MOCK_LOG,
  }
}

const EMPTY: readonly unknown[] = ['{}', '[]', '""', 'null', 'false', '0']

/** docs/specification.md, Mock provider: an empty value falls back to the built-in identity. */
function parseUser(value: string): UserIdentity | undefined {
  const user = jsonValueOf(value)
  if (EMPTY.includes(JSON.stringify(user))) return BUILT_IN_IDENTITY
  return isRecord(user) ? user : undefined
}
