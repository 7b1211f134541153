import { resolve } from 'node:path'
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

export const flag = {
  default: '0',
  expected: '0 or 1',
  parse: (text: string) => (['0', '1'].includes(text) ? text === '1' : undefined),
}

/** Node.js never ends creating a directory with its parents below /proc. */
export const optionalDirectory = {
  default: '',
  expected: 'a directory outside of /proc',
  /** The absolute path; empty for none. */
  parse(text: string): string | undefined {
    const directory = text && resolve(text)
    return /^\/proc(?:\/|$)/.test(directory) ? undefined : directory
  },
}

/** The environment of a mock program. */
export type MockEnvironment = Readonly<Record<string, string | undefined>>

type ValuesOf<Variables> = {
  readonly [Name in keyof Variables]: Variables[Name] extends Variable<infer T> ? T : never
}

/** The values of all variables. Throws a {@link ValueError} that names the first invalid one. */
export function readVariables<const Variables extends Readonly<Record<string, Variable<unknown>>>>(
  env: MockEnvironment,
  variables: Variables,
): ValuesOf<Variables> {
  const values = Object.entries(variables).map(([name, variable]) => [
    name,
    readVariable(env, name, variable),
  ])
  return Object.fromEntries(values) as ValuesOf<Variables>
}

/** An empty variable counts as unset: unit files and compose files cannot unset one. */
function readVariable(env: MockEnvironment, name: string, variable: Variable<unknown>): unknown {
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
