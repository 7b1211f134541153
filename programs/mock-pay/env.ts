import {
  bindAddress,
  flag,
  optionalDirectory,
  port,
  readConfig,
  type ConfigOf,
  type MockEnvironment,
  type Variable,
} from '../mock-server/variables.ts'
import { callbackNameOf } from './fields.ts'
import { parsePayScenarios } from './scenarios.ts'

/** Every variable, in the order of docs/guide/mock-pay.md. */
const VARIABLES = {
  bind: { name: 'MOCK_PAY_BIND', ...bindAddress },
  port: { name: 'MOCK_PAY_PORT', default: '8090', ...port },
  /** The address, to which the name of the channel is added. */
  callbackUrl: {
    name: 'MOCK_PAY_CALLBACK_URL',
    default: 'http://127.0.0.1:9989/payments/callbacks',
    expected: 'an http URL of this host without a query, such as http://127.0.0.1:9989/payments/callbacks',
    parse: parseCallbackUrl,
  },
  /** Undefined for the documented test values. */
  secretsDirectory: { name: 'MOCK_PAY_SECRETS_DIR', ...optionalDirectory },
  scenarios: {
    name: 'MOCK_PAY_SCENARIOS',
    default: '[]',
    expected: 'a JSON array of scenarios',
    parse: parsePayScenarios,
  },
  /** Whether each request is logged. */
  log: { name: 'MOCK_PAY_LOG', ...flag },
} as const satisfies Record<string, Variable>

/** The names of all variables. */
export const VARIABLE_NAMES = Object.values(VARIABLES).map(({ name }) => name)

export type MockPayConfig = ConfigOf<typeof VARIABLES>

/** Throws a `ValueError` for the first invalid variable. */
export function readMockPayConfig(env: MockEnvironment): MockPayConfig {
  return readConfig(env, VARIABLES)
}

/** Callbacks never leave this host. */
function parseCallbackUrl(text: string): string | undefined {
  const isGood = text.startsWith('http:') && callbackNameOf(text) !== undefined
  return isGood ? text.replace(/(?<!\/)\/+$/, '') : undefined
}
