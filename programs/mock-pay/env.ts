import { resolve } from 'node:path'
import { bindAddress, port, readVariable, type Variable } from '../mock-server/variables.ts'
import { callbackNameOf } from './fields.ts'
import { parsePayScenarios, type ScriptedScenario } from './scenarios.ts'

/** The validated configuration. */
export interface MockPayConfig {
  readonly bind: string
  readonly port: number
  /** The address, to which the name of the channel is added. */
  readonly callbackUrl: string
  /** Undefined for the documented test values. */
  readonly secretsDirectory: string | undefined
  readonly scenarios: readonly ScriptedScenario[]
  /** Whether each request is logged. */
  readonly log: boolean
}

/** Every variable, in the order of docs/guide/mock-pay.md. */
const VARIABLES = {
  MOCK_PAY_BIND: bindAddress,
  MOCK_PAY_PORT: { default: '8090', ...port },
  MOCK_PAY_CALLBACK_URL: {
    default: 'http://127.0.0.1:9989/payments/callbacks',
    expected: 'an http URL of this host without a query, such as http://127.0.0.1:9989/payments/callbacks',
    parse: parseCallbackUrl,
  },
  MOCK_PAY_SECRETS_DIR: {
    default: '',
    expected: 'a directory outside of /proc',
    parse: (text: string) => (/^\/proc(?:\/|$)/.test(resolve(text)) ? undefined : text && resolve(text)),
  },
  MOCK_PAY_SCENARIOS: { default: '[]', expected: 'a JSON array of scenarios', parse: parsePayScenarios },
  MOCK_PAY_LOG: {
    default: '0',
    expected: '0 or 1',
    parse: (text: string) => (['0', '1'].includes(text) ? text === '1' : undefined),
  },
} as const satisfies Record<string, Variable<unknown>>

/** The names of all variables. */
export const VARIABLE_NAMES = Object.keys(VARIABLES)

export type MockPayEnvironment = Readonly<Record<string, string | undefined>>

/** Throws a `ValueError` for the first invalid variable. */
export function readMockPayConfig(env: MockPayEnvironment): MockPayConfig {
  const read = <T>(name: keyof typeof VARIABLES, variable: Variable<T>) => readVariable(env, name, variable)
  return {
    bind: read('MOCK_PAY_BIND', VARIABLES.MOCK_PAY_BIND),
    port: read('MOCK_PAY_PORT', VARIABLES.MOCK_PAY_PORT),
    callbackUrl: read('MOCK_PAY_CALLBACK_URL', VARIABLES.MOCK_PAY_CALLBACK_URL),
    secretsDirectory: read('MOCK_PAY_SECRETS_DIR', VARIABLES.MOCK_PAY_SECRETS_DIR) || undefined,
    scenarios: read('MOCK_PAY_SCENARIOS', VARIABLES.MOCK_PAY_SCENARIOS),
    log: read('MOCK_PAY_LOG', VARIABLES.MOCK_PAY_LOG),
  }
}

/** Callbacks never leave this host. */
function parseCallbackUrl(text: string): string | undefined {
  const isGood = text.startsWith('http:') && callbackNameOf(text) !== undefined
  return isGood ? text.replace(/(?<!\/)\/+$/, '') : undefined
}
