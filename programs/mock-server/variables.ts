import { BlockList, isIP } from 'node:net'
import { ValueError } from './value-error.ts'

/** An environment variable of a mock server. */
export interface Variable<T> {
  /** The value of a variable that is not set, or empty. */
  readonly default: string
  /** Completes the error message `expected …`. */
  readonly expected: string
  /** Undefined when the text is invalid; throws a {@link ValueError} when there is more to say. */
  parse(text: string): T | undefined
}

export const anyText = { expected: 'a text', parse: (each: string): string => each }

export const bindAddress: Variable<string> = {
  default: '127.0.0.1',
  expected: 'a loopback address such as 127.0.0.1 or ::1',
  parse: (each) => (isLoopbackAddress(each) ? each : undefined),
}

export const port = { expected: 'an integer from 0 to 65535', parse: parsePort }

/**
 * The value of a variable; throws a {@link ValueError} that names it. An empty variable counts as unset: unit files and
 * compose files cannot unset one.
 */
export function readVariable<T>(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  variable: Variable<T>,
): T {
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

/** The value of a JSON text; undefined for another text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

function isLoopbackAddress(text: string): boolean {
  const version = isIP(text)
  return version !== 0 && !text.includes('%') && loopback.check(text, version === 4 ? 'ipv4' : 'ipv6')
}

function parsePort(value: string): number | undefined {
  return /^\d{1,5}$/.test(value) && Number(value) <= 65_535 ? Number(value) : undefined
}
