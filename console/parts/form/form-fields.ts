import type { FieldFault } from '../../api/operations.ts'

/** A JSON Schema of a request body, as far as a form shows it. */
export interface FormSchema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly format?: string
  readonly maxLength?: number
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly description?: string
  readonly default?: string | number | boolean
  /** A secret: it is sent, and never answered. */
  readonly writeOnly?: boolean
  readonly properties?: Readonly<Record<string, FormSchema>>
  readonly required?: readonly string[]
  readonly items?: FormSchema
}

export type FieldKind =
  | 'text'
  | 'secret'
  | 'long_text'
  | 'number'
  | 'amount'
  | 'flag'
  | 'choice'
  | 'choices'
  | 'time'

export interface FormField {
  /** As the API names it in `details`: `matchers.source`. */
  readonly path: string
  readonly kind: FieldKind
  readonly isRequired: boolean
  readonly schema: FormSchema
}

// A text that may be longer gets several lines.
const LONGEST_LINE = 256

/** The fields of a body in the order of its schema; those of an object in it stand in its place. */
export function formFields(schema: FormSchema, prefix = '', isObjectRequired = true): FormField[] {
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).flatMap(([name, member]) => {
    const path = `${prefix}${name}`
    const isRequired = isObjectRequired && required.includes(name)
    if (member.properties) return formFields(member, `${path}.`, isRequired)
    return [{ path, kind: kindOf(name, member), isRequired, schema: member }]
  })
}

/** Fields of a form that stand together; those with a title are folded below it. */
export interface FieldPart {
  readonly title: string | undefined
  readonly fields: readonly FormField[]
}

/** The fields of each object that has a title in `folds`, and those between them. */
export function partsOf(
  fields: readonly FormField[],
  folds: Readonly<Record<string, string>> = {},
): readonly FieldPart[] {
  const parts: { title: string | undefined; fields: FormField[] }[] = []
  for (const field of fields) {
    const title = folds[field.path.split('.', 1)[0] ?? '']
    const last = parts.at(-1)
    if (last && last.title === title) last.fields.push(field)
    else parts.push({ title, fields: [field] })
  }
  return parts
}

function kindOf(name: string, schema: FormSchema): FieldKind {
  const { type, enum: values, items, format, maxLength = 0, writeOnly = false } = schema
  const [first] = [type].flat()
  if (items?.enum) return 'choices'
  if (values) return 'choice'
  if (first === 'boolean') return 'flag'
  if (name.endsWith('_cents')) return 'amount'
  if (first === 'integer' || first === 'number') return 'number'
  if (format === 'date-time') return 'time'
  if (writeOnly || name.endsWith('password')) return 'secret'
  return maxLength > LONGEST_LINE ? 'long_text' : 'text'
}

/** What the user has entered, by the paths of the fields; several choices are separated by commas. */
export type FormValues = Readonly<Record<string, string>>

/** What a form begins with: the defaults of its fields. */
export function defaultsOf(fields: readonly FormField[]): FormValues {
  return Object.fromEntries(
    fields.flatMap(({ path, schema }) =>
      schema.default === undefined ? [] : [[path, String(schema.default)]],
    ),
  )
}

/** The body of the request. A field without a value, or with nothing but spaces, is left out: the API says what it requires. */
export function bodyOf(fields: readonly FormField[], values: FormValues): object {
  const body: Record<string, unknown> = {}
  for (const field of fields) {
    const value = values[field.path] ?? ''
    if (value !== '' && (field.kind === 'secret' || value.trim() !== ''))
      assign(body, field.path.split('.'), valueOf(field.kind, value))
  }
  return body
}

function assign(
  target: Record<string, unknown>,
  [name = '', ...rest]: readonly string[],
  value: unknown,
): void {
  if (rest.length === 0) {
    target[name] = value
    return
  }
  const inner = (target[name] ?? {}) as Record<string, unknown>
  target[name] = inner
  assign(inner, rest, value)
}

function valueOf(kind: FieldKind, value: string): unknown {
  switch (kind) {
    case 'number':
      return Number(value)
    case 'amount':
      // The API takes cents. It refuses any other text.
      return parseAmount(value) ?? value
    case 'flag':
      return value === 'true'
    case 'time': {
      const time = new Date(value)
      return Number.isNaN(time.getTime()) ? value : time.toISOString()
    }
    case 'choices':
      return value.split(',')
    case 'text':
    case 'secret':
    case 'long_text':
    case 'choice':
      return value
  }
}

/** The field with the longest value, which makes a body too large. */
export function longestField(fields: readonly FormField[], values: FormValues): FormField | undefined {
  const lengthOf = ({ path }: FormField) => values[path]?.length ?? 0
  return fields.toSorted((one, other) => lengthOf(other) - lengthOf(one))[0]
}

export interface PlacedFaults {
  /** By the paths of the fields. */
  readonly byPath: ReadonlyMap<string, FieldFault>
  /** The faults that belong to no field of the form. */
  readonly others: readonly FieldFault[]
}

/** Puts the faults that the API names to the fields of the form. One about an object stands at its first field. */
export function placeFaults(fields: readonly FormField[], faults: readonly FieldFault[]): PlacedFaults {
  const byPath = new Map<string, FieldFault>()
  const others: FieldFault[] = []
  for (const fault of faults) {
    const field = fields.find(({ path }) => path === fault.path || path.startsWith(`${fault.path}.`))
    if (!field) others.push(fault)
    else if (!byPath.has(field.path)) byPath.set(field.path, fault)
  }
  return { byPath, others }
}

const CENTS = 100

interface Notation {
  readonly amount: RegExp
  /** The sign between the thousands. */
  readonly group: '' | ',' | '.'
  readonly decimal: ',' | '.'
}

/** The ways in which people write amounts. `1,250` has thousands, because lists show it so; `1.250` may be meant either way. */
const NOTATIONS: readonly Notation[] = [
  { amount: /^\d+(?:\.\d{1,2})?$/, group: '', decimal: '.' },
  { amount: /^\d+,\d{1,2}$/, group: '', decimal: ',' },
  { amount: /^\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?$/, group: ',', decimal: '.' },
  { amount: /^\d{1,3}(?:\.\d{3})+,\d{1,2}$/, group: '.', decimal: ',' },
]

/** `1,299.00` → 129900. Undefined for what is not clearly an amount of at least 0 with at most two decimals. */
function parseAmount(text: string): number | undefined {
  const trimmed = text.trim()
  const notation = NOTATIONS.find(({ amount }) => amount.test(trimmed))
  if (!notation) return undefined
  const number = trimmed.replaceAll(notation.group, '').replace(notation.decimal, '.')
  const cents = Math.round(Number(number) * CENTS)
  return Number.isSafeInteger(cents) ? cents : undefined
}
