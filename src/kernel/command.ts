import { fieldFault, type ErrorDetail } from './errors.ts'
/** The types of a command's parameter; an `enum` is a text out of a list. */
export const PARAMETER_TYPES = ['string', 'integer', 'boolean', 'enum'] as const
export type ParameterType = (typeof PARAMETER_TYPES)[number]
export type ParameterValue = string | number | boolean

/** A parameter of a command. */
export interface CommandParameter {
  readonly type: ParameterType
  readonly description?: string
  /** Left out: the parameter is required. */
  readonly default?: ParameterValue
  /** The value reaches a program by its environment, and is never stored, logged or shown as it is. */
  readonly isSecret?: boolean
  /** For a string: a regular expression (ECMAScript, with the flag `u`) that matches a part of the value. */
  readonly pattern?: string
  /** For an integer. */
  readonly minimum?: number
  /** For an integer. */
  readonly maximum?: number
  /** For an enum. */
  readonly values?: readonly string[]
}

/** Parameters by their name. */
export type CommandParameters = Readonly<Record<string, CommandParameter>>

/** Whether a request runs at once, or a second person has to approve it. */
export const APPROVALS = ['none', 'two_person'] as const
export type ApprovalMode = (typeof APPROVALS)[number]

/**
 * How the processes of a program are kept together. `pid_namespace`: no process can leave, and the kernel ends all of them
 * when the worker dies. `process_scan`: they are searched by their environment, their parents and their sessions; a process
 * that changes all three escapes, and the processes of a dead worker live until a worker of this host finds them.
 */
export const CONTAINMENTS = ['pid_namespace', 'process_scan'] as const
export type Containment = (typeof CONTAINMENTS)[number]

/** What every command has. */
export interface Command {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly params: CommandParameters
  readonly approval: ApprovalMode
  /** Milliseconds. */
  readonly timeoutMs: number
  /** How many executions of it run at the same time, in all workers together. */
  readonly maxConcurrent: number
}

/** A command of the configuration: a program with its arguments, which is run without a shell. */
export interface ProgramCommand extends Command {
  /** `{name}` in an argument stands for the value of that parameter. The program itself has no placeholder. */
  readonly run: readonly string[]
}

/** What a built-in command is called with. */
export interface BuiltInCall {
  /** Checked; each parameter has a value. */
  readonly params: Readonly<Record<string, ParameterValue>>
  /** Id of the caller who has requested the execution. */
  readonly actor: string
  /** Aborted by a timeout, a cancellation or the stop of the worker. */
  readonly signal: AbortSignal
  /** Writes a line to the output of the execution. */
  readonly print: (line: string) => void
}

/** A command that a domain offers: code of the platform, which the worker runs. */
export interface BuiltInCommand extends Command {
  /** Runs at most once for an execution. It must end soon after the signal is aborted. A rejection is a failure. */
  run(call: BuiltInCall): Promise<void>
}

type BuiltInOptions = Pick<BuiltInCommand, 'id' | 'title' | 'description' | 'run'> & Partial<BuiltInCommand>

const BUILT_IN_DEFAULTS = { params: {}, approval: 'none', timeoutMs: 600_000, maxConcurrent: 1 } as const

/** Declares a built-in command; its id contains a dot, which the id of a configured command never does. */
export function builtInCommand(options: BuiltInOptions): BuiltInCommand {
  return { ...BUILT_IN_DEFAULTS, ...options }
}

// An argument of a program has at most 128 KiB (execve(2)), and an event of the bus at most 1 MiB.
const MAX_TEXT = 8_192
// NUL ends an argument of a program, and half a surrogate pair is not text.
const NO_TEXT = /[\0\uD800-\uDFFF]/u

/** What was expected at the path instead of this value of a parameter; undefined if it is valid. */
export function parameterFault(
  path: string,
  parameter: CommandParameter,
  value: unknown,
): ErrorDetail | undefined {
  const { type, pattern, values = [] } = parameter
  switch (type) {
    case 'integer':
      return integerFault(path, value, parameter)
    case 'boolean':
      return typeof value === 'boolean'
        ? undefined
        : fieldFault(path, 'wrong_type', { expected: 'true or false' })
    case 'enum':
      return values.includes(value as string)
        ? undefined
        : fieldFault(path, 'not_in_list', { allowed: values })
    case 'string':
      return textFault(path, value, pattern)
  }
}

function integerFault(
  path: string,
  value: unknown,
  { minimum, maximum }: CommandParameter,
): ErrorDetail | undefined {
  const lowest = minimum ?? Number.MIN_SAFE_INTEGER
  const highest = maximum ?? Number.MAX_SAFE_INTEGER
  if (Number.isSafeInteger(value) && Number(value) >= lowest && Number(value) <= highest) return undefined
  if (minimum === undefined && maximum === undefined) return fieldFault(path, 'not_an_integer')
  return fieldFault(path, 'out_of_range', { minimum: lowest, maximum: highest })
}

function textFault(path: string, value: unknown, pattern: string | undefined): ErrorDetail | undefined {
  if (typeof value !== 'string') return fieldFault(path, 'wrong_type', { expected: 'a string' })
  if (value.length > MAX_TEXT) return fieldFault(path, 'too_long', { maximum: MAX_TEXT })
  if (NO_TEXT.test(value)) return fieldFault(path, 'not_text')
  return pattern === undefined || new RegExp(pattern, 'u').test(value)
    ? undefined
    : fieldFault(path, 'not_matching', { pattern })
}

const PLACEHOLDER = /\{([A-Za-z][A-Za-z0-9_-]*)\}/g

/** The names of the placeholders in an argument. */
export function placeholdersIn(argument: string): string[] {
  return [...argument.matchAll(PLACEHOLDER)].map(([, name = '']) => name)
}

/** An argument with the values in place of its placeholders. A value is not searched for placeholders. */
export function fillPlaceholders(argument: string, values: Readonly<Record<string, ParameterValue>>): string {
  return argument.replace(PLACEHOLDER, (_, name: string) => String(values[name]))
}

/** The environment variable of a secret parameter: `api-key` → `PARAM_API_KEY`. */
export function secretVariable(name: string): string {
  return `PARAM_${name.toUpperCase().replaceAll('-', '_')}`
}
