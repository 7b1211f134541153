import { BODIES } from '../../../api/generated.ts'
import type { AnswerOf } from '../../../api/operations.ts'
import type { FormSchema } from '../../../parts/form/form-fields.ts'
import { listOf } from '../sources.ts'
import { parameterDescription } from './built-in.ts'
import { commandWords } from './words.ts'

export type Command = AnswerOf<'listCommands'>['items'][number]

const EVERY_MS = 15_000

/** The commands that the user may run. Most users may not read the events of the policy, which decides that. */
export const commandList = listOf('listCommands', 'command.', {
  query: { limit: 100 },
  keyOf: ({ id }) => id,
  everyMs: EVERY_MS,
})

/** The body of a request for this command: its parameters, and the reason. */
export function requestSchema({ params, approval }: Command): FormSchema {
  return {
    type: 'object',
    required: approval === 'two_person' ? ['params', 'reason'] : ['params'],
    properties: { params, reason: BODIES.executeCommand.properties.reason },
  }
}

/** What the parameters are for, or the form that they have, by their paths in the body. */
export function parameterHints({ id, params }: Command): Readonly<Record<string, string>> {
  return byPath(
    params,
    (name, { description, pattern }) =>
      parameterDescription(id, name) ?? description ?? (pattern && commandWords().pattern(pattern)),
  )
}

/** The names of the parameters, by their paths in the body. */
export function parameterLabels({ params }: Command): Readonly<Record<string, string>> {
  return byPath(params, (name) => name)
}

function byPath(
  { properties = {} }: FormSchema,
  textOf: (name: string, schema: FormSchema) => string | undefined,
): Readonly<Record<string, string>> {
  const entries = Object.entries(properties).flatMap(([name, schema]) => {
    const text = textOf(name, schema)
    return text === undefined ? [] : [[`params.${name}`, text] as const]
  })
  return Object.fromEntries(entries)
}

/** The arguments in one line. */
export function commandLineOf(args: readonly string[]): string {
  return args.map(quoteArgument).join(' ')
}

/** An argument that has spaces is in quotes, so that it is seen as one. */
function quoteArgument(argument: string): string {
  return /^[^\s"']+$/.test(argument) ? argument : JSON.stringify(argument)
}
