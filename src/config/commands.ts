import {
  APPROVALS,
  parameterFault,
  PARAMETER_TYPES,
  placeholdersIn,
  secretVariable,
  type CommandParameter,
  type CommandParameters,
  type ParameterValue,
  type ProgramCommand,
} from '../kernel/command.ts'
import { DAY, MINUTE } from '../kernel/time.ts'
import type { Environment } from './env.ts'
import { flagReader, readerOf, type TableReader, type ValueReader } from './table-reader.ts'
import { choice, duration, integerWithin } from './value-types.ts'

/** What the commands of the configuration need to run. */
export interface CommandsConfig {
  readonly programs: readonly ProgramCommand[]
  /** The whole environment of a program, except for the id of its execution and its secrets. */
  readonly environment: Readonly<Record<'PATH' | 'HOME' | 'LANG', string>>
}

const DEFAULT_TIMEOUT_MS = 10 * MINUTE
const MAX_ARGUMENTS = 256
const COMMAND_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/
const PARAMETER_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/
// The paths /commands/executions and /commands/policy are taken.
const RESERVED_IDS = ['executions', 'policy']

const timeoutReader = readerOf(duration({ minimum: 1, maximum: DAY }))
const concurrencyReader = readerOf(integerWithin({ minimum: 1, maximum: 1_000 }))
const approvalReader = readerOf(choice(APPROVALS))
const parameterTypeReader = readerOf(choice(PARAMETER_TYPES))

/** The variables that a program gets of the environment of the platform. */
export function programEnvironment(env: Environment): CommandsConfig['environment'] {
  return {
    PATH: env['PATH'] || '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: env['HOME'] || '/',
    LANG: env['LANG'] || 'C.UTF-8',
  }
}

/** Reads the table `[commands.<id>]`; undefined if it has a fault. */
export function parseCommand(id: string, entry: TableReader): ProgramCommand | undefined {
  if (!COMMAND_ID.test(id) || RESERVED_IDS.includes(id))
    entry.reportExpected(
      [],
      `an id of 1 to 64 letters, digits, hyphens or underscores, not ${RESERVED_IDS.join(' or ')}`,
    )
  entry.refuseOthers('title', 'description', 'run', 'timeout', 'approval', 'max_concurrent', 'params')
  const params = parseParameters(entry)
  const command = {
    id,
    title: entry.read('title', titleText) ?? id,
    description: entry.read('description', anyText) ?? '',
    run: parseRun(entry, params),
    timeoutMs: entry.read('timeout', timeoutReader) ?? DEFAULT_TIMEOUT_MS,
    approval: entry.read('approval', approvalReader) ?? 'none',
    maxConcurrent: entry.read('max_concurrent', concurrencyReader) ?? 1,
    params,
  }
  return entry.isFaulty ? undefined : command
}

function parseRun(entry: TableReader, params: CommandParameters): readonly string[] {
  const run = entry.readRequired('run', programAndArguments) ?? []
  const [program = '', ...others] = run
  if (placeholdersIn(program).length > 0)
    entry.reportExpected(['run'], 'a program without a placeholder', run)
  for (const name of others.flatMap(placeholdersIn)) {
    const param = Object.hasOwn(params, name) ? params[name] : undefined
    if (!param)
      entry.reportExpected(['run'], `placeholders of parameters, and there is no params.${name}`, run)
    else if (param.isSecret)
      entry.reportExpected(
        ['run'],
        `no secret in an argument; params.${name} is in ${secretVariable(name)}`,
        run,
      )
  }
  return run
}

function parseParameters(entry: TableReader): CommandParameters {
  const table = entry.table('params')
  if (!table) return {}
  const params = table.names.map(
    (name) => [name, parseParameter(name, table.inner([name], table.value(name)))] as const,
  )
  refuseSameVariable(table, params)
  return Object.fromEntries(params)
}

function parseParameter(name: string, entry: TableReader): CommandParameter {
  if (!PARAMETER_NAME.test(name))
    entry.reportExpected(
      [],
      'a name of 1 to 64 letters, digits, hyphens or underscores that begins with a letter',
    )
  if (!entry.isTable) return { type: 'string' }
  entry.refuseOthers('type', 'description', 'pattern', 'values', 'default', 'secret')
  const type = entry.readRequired('type', parameterTypeReader)
  if (type === undefined) return { type: 'string' }
  const parameter = { type, ...textMembers(entry), ...constraints(entry, type) }
  return { ...parameter, ...parseDefault(entry, parameter) }
}

function textMembers(entry: TableReader): Pick<CommandParameter, 'description' | 'isSecret'> {
  const description = entry.read('description', anyText)
  const isSecret = entry.read('secret', flagReader)
  return { ...(description !== undefined && { description }), ...(isSecret && { isSecret }) }
}

/** Each type has one key of its own, which no other type may have. */
function constraints(
  entry: TableReader,
  type: CommandParameter['type'],
): Pick<CommandParameter, 'pattern' | 'values'> {
  if (type !== 'string' && entry.has('pattern'))
    entry.reportExpected(['pattern'], 'no pattern, except for a string')
  if (type !== 'enum' && entry.has('values'))
    entry.reportExpected(['values'], 'no values, except for an enum')
  if (type === 'enum' && !entry.has('values')) entry.reportExpected(['values'], textList.expected)
  const pattern = type === 'string' ? entry.read('pattern', regularExpression) : undefined
  const values = type === 'enum' ? entry.read('values', textList) : undefined
  return { ...(pattern !== undefined && { pattern }), ...(values && { values }) }
}

function parseDefault(entry: TableReader, parameter: CommandParameter): Pick<CommandParameter, 'default'> {
  if (!entry.has('default')) return {}
  const value = entry.value('default')
  const fault = parameterFault('default', parameter, value)
  if (parameter.isSecret)
    entry.reportExpected(['default'], 'no default for a secret, which comes with the request')
  else if (fault === undefined) return { default: value as ParameterValue }
  else entry.reportExpected(['default'], `a value that ${fault.message}`, value)
  return {}
}

function refuseSameVariable(
  table: TableReader,
  params: readonly (readonly [string, CommandParameter])[],
): void {
  const secrets = params.filter(([, { isSecret }]) => isSecret).map(([name]) => name)
  for (const [variable, names] of Map.groupBy(secrets, secretVariable))
    if (names.length > 1)
      table.reportExpected([names[1] as string], `a name whose variable is not ${variable} too`)
}

const MAX_TITLE = 100
const MAX_TEXT = 1_000
const textOf = (value: unknown, maximum: number) =>
  typeof value === 'string' && value !== '' && value.length <= maximum && !value.includes('\0')
    ? value
    : undefined

const titleText: ValueReader<string> = {
  expected: `a text of 1 to ${MAX_TITLE} characters`,
  read: (value) => textOf(value, MAX_TITLE),
}

const anyText: ValueReader<string> = {
  expected: `a text of 1 to ${MAX_TEXT} characters`,
  read: (value) => textOf(value, MAX_TEXT),
}

const textList: ValueReader<string[]> = {
  expected: 'a list of different texts, at least one',
  read: (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((text) => textOf(text, MAX_TEXT) !== undefined) &&
    new Set(value).size === value.length
      ? value
      : undefined,
}

const programAndArguments: ValueReader<string[]> = {
  expected: `a list of a program and its arguments, 1 to ${MAX_ARGUMENTS} texts`,
  read(value) {
    if (!Array.isArray(value) || value.length > MAX_ARGUMENTS) return undefined
    const isText = (value: unknown) => typeof value === 'string' && !value.includes('\0')
    return value.every(isText) && value[0] ? value : undefined
  },
}

const regularExpression: ValueReader<string> = {
  expected: 'a regular expression (ECMAScript)',
  read(value) {
    try {
      return typeof value === 'string' ? new RegExp(value, 'u').source && value : undefined
    } catch {
      return undefined
    }
  },
}
