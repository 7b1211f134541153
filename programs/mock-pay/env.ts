import {
  bindAddress,
  flag,
  optionalDirectory,
  port,
  readVariables,
  type MockEnvironment,
  type Variable,
} from '../mock-server/variables.ts'
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
  MOCK_PAY_SECRETS_DIR: optionalDirectory,
  MOCK_PAY_SCENARIOS: { default: '[]', expected: 'a JSON array of scenarios', parse: parsePayScenarios },
  MOCK_PAY_LOG: flag,
} as const satisfies Record<string, Variable<unknown>>

/** The names of all variables. */
export const VARIABLE_NAMES = Object.keys(VARIABLES)

/** Throws a `ValueError` for the first invalid variable. */
export function readMockPayConfig(env: MockEnvironment): MockPayConfig {
  const values = readVariables(env, VARIABLES)
  return {
    bind: values.MOCK_PAY_BIND,
    port: values.MOCK_PAY_PORT,
    callbackUrl: values.MOCK_PAY_CALLBACK_URL,
    secretsDirectory: values.MOCK_PAY_SECRETS_DIR || undefined,
    scenarios: values.MOCK_PAY_SCENARIOS,
    log: values.MOCK_PAY_LOG,
  }
}

/** Callbacks never leave this host. */
function parseCallbackUrl(text: string): string | undefined {
  const isGood = text.startsWith('http:') && callbackNameOf(text) !== undefined
  return isGood ? text.replace(/(?<!\/)\/+$/, '') : undefined
}
