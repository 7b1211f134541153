import { Secret } from '../../src/kernel/secret.ts'
import { parseDuration } from '../../src/kernel/time.ts'
import { parseScenarios, type ScriptedScenario } from '../mock-server/scenario-script.ts'
import {
  anyText,
  bindAddress,
  flag,
  optionalDirectory,
  port,
  readVariables,
  type MockEnvironment,
  type Variable,
} from '../mock-server/variables.ts'
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
  MOCK_DRIVE_DIR: optionalDirectory,
  MOCK_DRIVE_ID: { default: '', ...anyText },
  MOCK_DRIVE_MIN_PART_SIZE: { default: '0', ...size },
  MOCK_DRIVE_SCENARIOS: {
    default: '[]',
    expected: 'a JSON array of scenarios',
    parse: (text: string) => parseScenarios(text, SCENARIOS),
  },
  MOCK_DRIVE_LOG: flag,
} as const satisfies Record<string, Variable<unknown>>

/** The names of all variables. */
export const VARIABLE_NAMES = Object.keys(VARIABLES)

/** Throws a `ValueError` for the first invalid variable. */
export function readMockDriveConfig(env: MockEnvironment): MockDriveConfig {
  const values = readVariables(env, VARIABLES)
  return {
    bind: values.MOCK_DRIVE_BIND,
    port: values.MOCK_DRIVE_PORT,
    clientId: values.MOCK_DRIVE_CLIENT_ID,
    clientSecret: new Secret(values.MOCK_DRIVE_CLIENT_SECRET),
    refreshToken: new Secret(values.MOCK_DRIVE_REFRESH_TOKEN),
    quota: values.MOCK_DRIVE_QUOTA,
    urlTtlMs: values.MOCK_DRIVE_URL_TTL,
    tokenTtlMs: values.MOCK_DRIVE_TOKEN_TTL,
    directory: values.MOCK_DRIVE_DIR || undefined,
    driveId: values.MOCK_DRIVE_ID || undefined,
    minPartSize: values.MOCK_DRIVE_MIN_PART_SIZE,
    scenarios: values.MOCK_DRIVE_SCENARIOS,
    log: values.MOCK_DRIVE_LOG,
  }
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
