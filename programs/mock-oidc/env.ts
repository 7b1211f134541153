import { Secret } from '../../src/kernel/secret.ts'
import { isIssuerUrl, isLoopbackAddress, isRedirectUri } from './addresses.ts'
import { BUILT_IN_IDENTITY, type UserIdentity } from './identity.ts'
import { parseScenarios, type ScriptedScenario } from './scenario-script.ts'
import { ValueError } from './value-error.ts'

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
  readonly scenarios: readonly ScriptedScenario[]
  /** Whether each request is logged. */
  readonly log: boolean
}

interface Variable<T> {
  readonly default: string
  /** Completes the error message `expected …`. */
  readonly expected: string
  /** Undefined when the text is invalid; throws a {@link ValueError} when there is more to say. */
  parse(text: string): T | undefined
}

const textIf = (isValid: (text: string) => boolean) => (text: string) => (isValid(text) ? text : undefined)
const anyText = { expected: 'a text', parse: (each: string): string => each }
const flag = { default: '0', expected: '0 or 1', parse: (each: string): boolean => each === '1' }

/** Every variable, in the order of docs/guide/mock-oidc.md. */
const VARIABLES = {
  MOCK_ISSUER: {
    default: 'http://203.0.113.10:8088',
    expected: 'an absolute http or https URL without query and fragment',
    parse: textIf(isIssuerUrl),
  },
  MOCK_BIND: {
    default: '127.0.0.1',
    expected: 'a loopback address such as 127.0.0.1 or ::1',
    parse: textIf(isLoopbackAddress),
  },
  MOCK_PORT: { default: '8088', expected: 'an integer from 0 to 65535', parse: parsePort },
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
  MOCK_REQUIRE_FORM: flag,
  MOCK_USER_JSON: { default: '{}', expected: 'a JSON object', parse: parseUser },
  MOCK_SCENARIOS: { default: '[]', expected: 'a JSON array of scenarios', parse: parseScenarios },
  MOCK_LOG: flag,
} as const satisfies Record<string, Variable<unknown>>

/** The names of all variables. */
export const VARIABLE_NAMES = Object.keys(VARIABLES)

export type MockEnvironment = Readonly<Record<string, string | undefined>>

/** Throws a {@link ValueError} for the first invalid variable. */
export function readMockConfig(env: MockEnvironment): MockConfig {
  const read = <T>(name: keyof typeof VARIABLES, variable: Variable<T>) => readVariable(env, name, variable)
  return {
    issuer: read('MOCK_ISSUER', VARIABLES.MOCK_ISSUER),
    bind: read('MOCK_BIND', VARIABLES.MOCK_BIND),
    port: read('MOCK_PORT', VARIABLES.MOCK_PORT),
    clientId: read('MOCK_CLIENT_ID', VARIABLES.MOCK_CLIENT_ID),
    clientSecret: new Secret(read('MOCK_CLIENT_SECRET', VARIABLES.MOCK_CLIENT_SECRET)),
    redirectUri: read('MOCK_REDIRECT_URI', VARIABLES.MOCK_REDIRECT_URI),
    tokenMode: read('MOCK_TOKEN_MODE', VARIABLES.MOCK_TOKEN_MODE),
    requireForm: read('MOCK_REQUIRE_FORM', VARIABLES.MOCK_REQUIRE_FORM),
    user: read('MOCK_USER_JSON', VARIABLES.MOCK_USER_JSON),
    scenarios: read('MOCK_SCENARIOS', VARIABLES.MOCK_SCENARIOS),
    log: read('MOCK_LOG', VARIABLES.MOCK_LOG),
  }
}

/** An empty variable counts as unset: unit files and compose files cannot unset one. */
function readVariable<T>(env: MockEnvironment, name: string, variable: Variable<T>): T {
  const value = env[name] === undefined || env[name] === '' ? variable.default : env[name]
  try {
    const parsed = variable.parse(value)
    if (parsed !== undefined) return parsed
  } catch (error) {
    if (error instanceof ValueError) throw new ValueError(`${name}: ${error.message}`, { cause: error })
    throw error
  }
  throw new ValueError(`${name}: expected ${variable.expected}, got ${JSON.stringify(value)}`)
}

function parsePort(value: string): number | undefined {
  return /^\d{1,5}$/.test(value) && Number(value) <= 65_535 ? Number(value) : undefined
}

/** docs/specification.md, Mock provider: an empty parse result falls back to the built-in identity. */
function parseUser(value: string): UserIdentity | undefined {
  const user = parseJson(value)
  if (user === null || user === '') return BUILT_IN_IDENTITY
  if (typeof user !== 'object') return undefined
  if (Object.keys(user).length === 0) return BUILT_IN_IDENTITY
  return Array.isArray(user) ? undefined : (user as UserIdentity)
}

function parseJson(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}
