import { parseDuration } from '../../src/kernel/time.ts'
import { parseScenarios } from '../mock-server/scenario-script.ts'
import {
  anyText,
  bindAddress,
  flag,
  optionalDirectory,
  port,
  readConfig,
  secretText,
  type ConfigOf,
  type MockEnvironment,
  type Variable,
} from '../mock-server/variables.ts'
import { SCENARIOS } from './scenarios.ts'

const size = { expected: 'a number of bytes such as 1000000, 64MiB or 2GiB', parse: parseSize }
const duration = { expected: 'a number of seconds, or a duration such as 500ms, 30s or 1h', parse: parseTtl }

/** Every variable, in the order of docs/guide/mock-drive.md. */
const VARIABLES = {
  bind: { name: 'MOCK_DRIVE_BIND', ...bindAddress },
  port: { name: 'MOCK_DRIVE_PORT', default: '8089', ...port },
  clientId: { name: 'MOCK_DRIVE_CLIENT_ID', default: 'drive_mock_docvalue_0001', ...anyText },
  clientSecret: { name: 'MOCK_DRIVE_CLIENT_SECRET', default: 'drive_secret_docvalue_0001', ...secretText },
  /** The refresh token that is valid at the start. */
  refreshToken: { name: 'MOCK_DRIVE_REFRESH_TOKEN', default: 'drive_refresh_docvalue_0001', ...secretText },
  /** Bytes of the drive. */
  quota: { name: 'MOCK_DRIVE_QUOTA', default: '1GiB', ...size },
  urlTtlMs: { name: 'MOCK_DRIVE_URL_TTL', default: '1h', ...duration },
  tokenTtlMs: { name: 'MOCK_DRIVE_TOKEN_TTL', default: '2h', ...duration },
  /** Where files are kept; undefined keeps them in memory. */
  directory: { name: 'MOCK_DRIVE_DIR', ...optionalDirectory },
  /** The only drive; undefined accepts every `drive_id` as a name of the one drive. */
  driveId: { name: 'MOCK_DRIVE_ID', ...anyText },
  /** Bytes that every part but the last must have. */
  minPartSize: { name: 'MOCK_DRIVE_MIN_PART_SIZE', default: '0', ...size },
  scenarios: {
    name: 'MOCK_DRIVE_SCENARIOS',
    default: '[]',
    expected: 'a JSON array of scenarios',
    parse: (text: string) => parseScenarios(text, SCENARIOS),
  },
  /** Whether each request is logged. */
  log: { name: 'MOCK_DRIVE_LOG', ...flag },
} as const satisfies Record<string, Variable>

/** The names of all variables. */
export const VARIABLE_NAMES = Object.values(VARIABLES).map(({ name }) => name)

export type MockDriveConfig = ConfigOf<typeof VARIABLES>

/** Throws a `ValueError` for the first invalid variable. */
export function readMockDriveConfig(env: MockEnvironment): MockDriveConfig {
  return readConfig(env, VARIABLES)
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
