import { resolve } from 'node:path'
import { Secret } from '../../src/kernel/secret.ts'
import { BlockList, isIP } from 'node:net'
import { ValueError } from './value-error.ts'

/** An environment variable of a mock server. */
export interface Variable {
  readonly name: string
  /** The text of a variable that is not set, or empty. Without one the value is then undefined. */
  readonly default?: string
  /** Completes the error message `expected …`. */
  readonly expected: string
  /** Undefined when the text is invalid; throws a {@link ValueError} when there is more to say. */
  parse(text: string): unknown
}

export const anyText = { expected: 'a text', parse: (text: string): string => text }
export const secretText = { expected: 'a text', parse: (text: string): Secret => new Secret(text) }

export const bindAddress = {
  default: '127.0.0.1',
  expected: 'a loopback address such as 127.0.0.1 or ::1',
  parse: (text: string) => (isLoopbackAddress(text) ? text : undefined),
}

export const port = { expected: 'an integer from 0 to 65535', parse: parsePort }

export const flag = {
  default: '0',
  expected: '0 or 1',
  parse: (text: string) => (['0', '1'].includes(text) ? text === '1' : undefined),
}

/** Node.js never ends creating a directory with its parents below /proc. */
export const optionalDirectory = {
  expected: 'a directory outside of /proc',
  parse(text: string): string | undefined {
    const directory = resolve(text)
    return /^\/proc(?:\/|$)/.test(directory) ? undefined : directory
  },
}

/** The environment of a mock program. */
export type MockEnvironment = Readonly<Record<string, string | undefined>>

/** The validated configuration: the value of each variable. */
export type ConfigOf<Variables> = {
  readonly [Field in keyof Variables]: Variables[Field] extends { parse(text: string): infer Value }
    ? Exclude<Value, undefined> | (Variables[Field] extends { readonly default: string } ? never : undefined)
    : never
}

/** Throws a {@link ValueError} that names the first invalid variable. */
export function readConfig<Variables extends Readonly<Record<string, Variable>>>(
  env: MockEnvironment,
  variables: Variables,
): ConfigOf<Variables> {
  const values = Object.entries(variables).map(([field, variable]) => [field, readVariable(env, variable)])
  return Object.fromEntries(values) as ConfigOf<Variables>
}

function readVariable(env: MockEnvironment, variable: Variable): unknown {
  const { name, expected } = variable
  // An empty variable counts as unset: unit files and compose files cannot unset one.
  const text = env[name] || variable.default
  if (text === undefined) return undefined
  try {
    const value = variable.parse(text)
    if (value !== undefined) return value
  } catch (error) {
    if (error instanceof ValueError) throw new ValueError(`${name}: ${error.message}`, { cause: error })
    throw error
  }
  throw new ValueError(`${name}: expected ${expected}, got ${JSON.stringify(text)}`)
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
