import {
  fillPlaceholders,
  parameterFault,
  secretVariable,
  type CommandParameter,
  type CommandParameters,
  type ParameterValue,
  type ProgramCommand,
} from '../../kernel/command.ts'
import { validationFailed, type AppError, fieldFault, type ErrorDetail } from '../../kernel/errors.ts'
import { REDACTED } from '../../kernel/secret.ts'
import { isProgramCommand, type AnyCommand } from './catalogue.ts'

export type ParameterValues = Readonly<Record<string, ParameterValue>>

/** The values of a request: the public ones, which may be stored and shown, and the secret ones. */
export interface CheckedParameters {
  /** With `**redacted**` for each secret. */
  readonly redacted: ParameterValues
  readonly secrets: ParameterValues
}

// An event of the bus has at most 1 MiB, and carries the parameters.
const MAX_BYTES = 65_536

/** Checks the parameters of a request, and fills in the defaults. Throws `validation_failed`, which names no value. */
export function checkParameters(
  parameters: CommandParameters,
  input: Readonly<Record<string, unknown>>,
): CheckedParameters {
  const faults = [...unknownFaults(parameters, input), ...valueFaults(parameters, input)]
  if (faults.length > 0) throw invalidParameters(faults)
  const values = Object.entries(parameters).map(([name, parameter]) => {
    return { name, parameter, value: valueOf(input, name, parameter) as ParameterValue }
  })
  if (Buffer.byteLength(JSON.stringify(values.map(({ value }) => value))) > MAX_BYTES)
    throw invalidParameters([fieldFault('params', 'too_many_bytes_together', { maximum: '64 KiB' })])
  const secrets = values.filter(({ parameter }) => parameter.isSecret)
  return {
    redacted: entries(
      values.map((entry) => (entry.parameter.isSecret ? { ...entry, value: REDACTED } : entry)),
    ),
    secrets: entries(secrets),
  }
}

function entries(values: readonly { name: string; value: ParameterValue }[]): ParameterValues {
  return Object.fromEntries(values.map(({ name, value }) => [name, value]))
}

function valueOf(
  input: Readonly<Record<string, unknown>>,
  name: string,
  parameter: CommandParameter,
): unknown {
  return Object.hasOwn(input, name) ? input[name] : parameter.default
}

function unknownFaults(parameters: CommandParameters, input: object): ErrorDetail[] {
  const unknown = Object.keys(input).filter((name) => !Object.hasOwn(parameters, name))
  return unknown.map((name) => fieldFault(`params.${name}`.slice(0, 256), 'unknown_parameter'))
}

function valueFaults(parameters: CommandParameters, input: Readonly<Record<string, unknown>>): ErrorDetail[] {
  return Object.entries(parameters).flatMap(([name, parameter]) => {
    const value = valueOf(input, name, parameter)
    const path = `params.${name}`
    const found = value === undefined ? fieldFault(path, 'required') : parameterFault(path, parameter, value)
    return found === undefined ? [] : [found]
  })
}

// More details would not help the caller.
const MAX_DETAILS = 20

function invalidParameters(faults: readonly ErrorDetail[]): AppError {
  return validationFailed(faults.slice(0, MAX_DETAILS))
}

/** The JSON Schema (2020-12) of a command's parameters. */
export function parametersSchema(parameters: CommandParameters): object {
  const required = Object.entries(parameters).filter(([, parameter]) => parameter.default === undefined)
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(parameters).map(([name, parameter]) => [name, parameterSchema(parameter)]),
    ),
    required: required.map(([name]) => name),
    additionalProperties: false,
  }
}

function parameterSchema({ type, description, pattern, values, isSecret, ...others }: CommandParameter) {
  return {
    type: type === 'enum' ? 'string' : type,
    ...(description !== undefined && { description }),
    ...(pattern !== undefined && { pattern }),
    ...(others.minimum !== undefined && { minimum: others.minimum }),
    ...(others.maximum !== undefined && { maximum: others.maximum }),
    ...(values && { enum: values }),
    ...(others.default !== undefined && { default: others.default }),
    ...(isSecret && { writeOnly: true }),
  }
}

/** The program and its arguments for these values. Each argument stays one argument, whatever is in a value. */
export function argumentsOf({ run }: Pick<ProgramCommand, 'run'>, values: ParameterValues): string[] {
  return run.map((argument, index) => (index === 0 ? argument : fillPlaceholders(argument, values)))
}

/** The environment variables of secret parameters. */
export function secretEnvironment(secrets: ParameterValues): Record<string, string> {
  return Object.fromEntries(
    Object.entries(secrets).map(([name, value]) => [secretVariable(name), String(value)]),
  )
}

/** What would run, for a person: the program with its arguments, or the id of a built-in command. */
export function describeRun(command: AnyCommand, redacted: ParameterValues): string[] {
  return isProgramCommand(command) ? argumentsOf(command, redacted) : [command.id]
}

/** Whether these are values of all parameters; the configuration may have got others since a request. */
export function hasValues(parameters: CommandParameters, values: ParameterValues): boolean {
  return Object.keys(parameters).every((name) => Object.hasOwn(values, name))
}
