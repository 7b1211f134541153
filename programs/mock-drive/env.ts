import { resolve } from 'node:path'
import { Secret } from '../../src/kernel/secret.ts'
import { parseDuration } from '../../src/kernel/time.ts'
import { parseScenarios, type ScriptedScenario } from '../mock-server/scenario-script.ts'
import { anyText, bindAddress, port, readVariable, type Variable } from '../mock-server/variables.ts'
import type { EndpointName } from './endpoint-names.ts'
import { SCENARIOS, type ScenarioName } from './scenarios.ts'

/** The validated configuration. */
export interface MockDriveConfig {
  readonly bind: string
  readonly port: number
  readonly clientId: string
  readonly clientSecret: Secret
  /** The refresh token that is valid at the start. */
  readonly refreshToken: Secret
  /** The only drive; undefined accepts every `drive_id` as a name of the one drive. */
  readonly driveId: string | undefined
  /** Bytes of the drive. */
  readonly quota: number
  readonly urlTtlMs: number
  readonly tokenTtlMs: number
  /** Bytes that every part but the last must have. */
  readonly minPartSize: number
  /** Where files are kept; undefined keeps them in memory. */
  readonly directory: string | undefined
  readonly scenarios: readonly ScriptedScenario<EndpointName, ScenarioName>[]
  /** Whether each request is logged. */
  readonly log: boolean
}

const size = { expected: 'a number of bytes such as 1000000, 64MiB or 2GiB', parse: parseSize }
const duration = { expected: 'a number of seconds, or a duration such as 500ms, 30s or 1h', parse: parseTtl }

/** Every variable, in the order of docs/guide/mock-drive.md. */
const VARIABLES = {
  MOCK_DRIVE_BIND: bindAddress,
  MOCK_DRIVE_PORT: { default: '8089', ...port },
  MOCK_DRIVE_CLIENT_ID: { default: 'drive_mock_docvalue_0001', ...anyText },
  MOCK_DRIVE_CLIENT_SECRET: { default: 'drive_secret_docvalue_0001', ...anyText },
  MOCK_DRIVE_REFRESH_TOKEN: { default: 'drive_refresh_docvalue_0001', ...anyText },
  MOCK_DRIVE_QUOTA: { default: '1GiB', ...size },
  MOCK_DRIVE_URL_TTL: { default: '1h', ...duration },
  MOCK_DRIVE_TOKEN_TTL: { default: '2h', ...duration },
  MOCK_DRIVE_DIR: { default: '', expected: 'a directory outside of /proc', parse: parseDirectory },
  MOCK_DRIVE_ID: { default: '', ...anyText },
  MOCK_DRIVE_MIN_PART_SIZE: { default: '0', ...size },
  MOCK_DRIVE_SCENARIOS: {
    default: '[]',
    expected: 'a JSON array of scenarios',
    parse: (text: string) => parseScenarios(text, SCENARIOS),
  },
  MOCK_DRIVE_LOG: { default: '0', expected: '0 or 1', parse: parseFlag },
} as const satisfies Record<string, Variable<unknown>>

/** The names of all variables. */
export const VARIABLE_NAMES = Object.keys(VARIABLES)

export type MockDriveEnvironment = Readonly<Record<string, string | undefined>>

/** Throws a `ValueError` for the first invalid variable. */
export function readMockDriveConfig(env: MockDriveEnvironment): MockDriveConfig {
  const read = <T>(name: keyof typeof VARIABLES, variable: Variable<T>) => readVariable(env, name, variable)
  const directory = read('MOCK_DRIVE_DIR', VARIABLES.MOCK_DRIVE_DIR)
  return {
    bind: read('MOCK_DRIVE_BIND', VARIABLES.MOCK_DRIVE_BIND),
    port: read('MOCK_DRIVE_PORT', VARIABLES.MOCK_DRIVE_PORT),
    clientId: read('MOCK_DRIVE_CLIENT_ID', VARIABLES.MOCK_DRIVE_CLIENT_ID),
    clientSecret: new Secret(read('MOCK_DRIVE_CLIENT_SECRET', VARIABLES.MOCK_DRIVE_CLIENT_SECRET)),
    refreshToken: new Secret(read('MOCK_DRIVE_REFRESH_TOKEN', VARIABLES.MOCK_DRIVE_REFRESH_TOKEN)),
    quota: read('MOCK_DRIVE_QUOTA', VARIABLES.MOCK_DRIVE_QUOTA),
    urlTtlMs: read('MOCK_DRIVE_URL_TTL', VARIABLES.MOCK_DRIVE_URL_TTL),
    tokenTtlMs: read('MOCK_DRIVE_TOKEN_TTL', VARIABLES.MOCK_DRIVE_TOKEN_TTL),
    directory: directory || undefined,
    driveId: read('MOCK_DRIVE_ID', VARIABLES.MOCK_DRIVE_ID) || undefined,
    minPartSize: read('MOCK_DRIVE_MIN_PART_SIZE', VARIABLES.MOCK_DRIVE_MIN_PART_SIZE),
    scenarios: read('MOCK_DRIVE_SCENARIOS', VARIABLES.MOCK_DRIVE_SCENARIOS),
    log: read('MOCK_DRIVE_LOG', VARIABLES.MOCK_DRIVE_LOG),
  }
}

function parseFlag(value: string): boolean | undefined {
  return ['0', '1'].includes(value) ? value === '1' : undefined
}

const SIZE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  KiB: 1_024,
  MiB: 1_024 ** 2,
  GiB: 1_024 ** 3,
  TiB: 1_024 ** 4,
}

function parseSize(value: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,15})(KiB|MiB|GiB|TiB)?$/.exec(value) ?? []
  const bytes = Number(digits) * (SIZE_UNITS[unit] ?? Number.NaN)
  return Number.isSafeInteger(bytes) ? bytes : undefined
}

const LONGEST_TTL_MS = 30 * 86_400_000

function parseTtl(value: string): number | undefined {
  const milliseconds = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : parseDuration(value)
  return milliseconds !== undefined && milliseconds <= LONGEST_TTL_MS ? milliseconds : undefined
}

/** The absolute path; empty for none. Node.js never ends creating a directory with its parents below /proc. */
function parseDirectory(text: string): string | undefined {
  const directory = text === '' ? '' : resolve(text)
  return /^\/proc(?:\/|$)/.test(directory) ? undefined : directory
}
