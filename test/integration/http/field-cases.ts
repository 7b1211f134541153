import type { Schema } from './document.ts'

/** A value for a field, and what is to become of a request that carries it. */
export interface FieldCase {
  readonly name: string
  readonly value: unknown
  readonly accepted: boolean
  /** Where the refusal lies, below the field. */
  readonly below?: string
}

/** Text that only some fields take (emoji, marks, joiners, direction, what is no character, a byte order mark). */
const ODD_TEXTS = [
  '😀',
  'é',
  'e\u0301',
  '👨‍👩‍👧',
  '\u202egnp',
  '\uffff',
  '\ufeffx',
  'ß',
  '\u{10ffff}',
  "'; --",
  '${x}',
]
/** What no text is, and what no database of ours can keep. */
const NO_TEXTS = { 'a NUL': 'a\u0000b', 'half a surrogate pair': 'a\ud800', 'the other half': '\udc00a' }

const VALUES = {
  string: ['text'],
  integer: [7],
  number: [1.5],
  boolean: [true, false],
  array: [[]],
  object: [{}],
  null: [null],
} as const
type TypeName = keyof typeof VALUES

/** Values of every kind for a field of a JSON body, judged by its schema. */
export function bodyCases(schema: Schema, options: { readonly anyText: boolean }): FieldCase[] {
  return [...typeCases(schema), ...textCases(schema, options), ...numberCases(schema), ...arrayCases(schema)]
}

function typeCases(schema: Schema): FieldCase[] {
  const types = typesOf(schema)
  if (types.length === 0) return []
  return (Object.keys(VALUES) as TypeName[])
    .filter((type) => !types.includes(type))
    .flatMap((type) => VALUES[type].map((value) => refused(`the ${type} ${JSON.stringify(value)}`, value)))
}

/** Text at its bounds and beyond, of odd characters, and near the words of a list. */
export function textCases(schema: Schema, { anyText }: { readonly anyText: boolean }): FieldCase[] {
  if (!typesOf(schema).includes('string')) return []
  if (schema.enum) return enumCases(schema.enum)
  const odd = ODD_TEXTS.map((value) => ({
    name: JSON.stringify(value),
    value,
    accepted: isText(schema, value),
  }))
  const none = Object.entries(NO_TEXTS).map(([name, value]) => ({ name, value, accepted: anyText }))
  return [...lengthCases(schema), ...odd, ...none]
}

function enumCases(words: readonly unknown[]): FieldCase[] {
  const near = (word: string) => [
    word.toUpperCase(),
    `${word} `,
    ` ${word}`,
    `${word}\u0000`,
    word.slice(1),
    '',
  ]
  const wrong = [...new Set(words.flatMap((word) => near(String(word))))].filter(
    (word) => !words.includes(word),
  )
  return [
    ...words.map((value) => ({ name: `the word ${String(value)}`, value, accepted: true })),
    ...wrong.map((value) => refused(`the word ${JSON.stringify(value)}`, value)),
  ]
}

function lengthCases(schema: Schema): FieldCase[] {
  const { least, most } = lengthsOf(schema)
  const cases: FieldCase[] = []
  if (least !== undefined && least > 0) {
    cases.push({ name: `${least} characters`, value: textOf(least), accepted: true })
    cases.push(refused(`${least - 1} characters`, textOf(least - 1)))
  }
  if (most !== undefined) {
    cases.push({ name: `${most} characters`, value: textOf(most), accepted: true })
    cases.push(refused(`${most + 1} characters`, textOf(most + 1)))
    // A public operation takes no body of the larger size.
    const far = most < 10_000 ? 10_000 : 100_000
    cases.push(refused(`${far} characters`, textOf(far)))
  }
  return cases
}

/** How long a text may be: by its lengths, or by the quantifier that its pattern ends with. */
function lengthsOf({ pattern, minLength, maxLength }: Schema): { least?: number; most?: number } {
  const [, from, to] = /\{(\d+),(\d+)\}\$$/.exec(pattern ?? '') ?? []
  const least = from === undefined ? minLength : Number(from)
  const most = to === undefined ? maxLength : Number(to)
  return { ...(least !== undefined && { least }), ...(most !== undefined && { most }) }
}

const ALPHABET = 'brass7telescope-42_'

/** So many characters that every pattern of ours takes, and that are no bad password. */
function textOf(length: number): string {
  return ALPHABET.repeat(Math.ceil(length / ALPHABET.length)).slice(0, length)
}

function isText({ pattern, minLength = 0, maxLength = Infinity }: Schema, value: string): boolean {
  const characters = [...value].length
  const fits = characters >= minLength && characters <= maxLength
  return fits && (pattern === undefined || new RegExp(pattern, 'u').test(value))
}

function numberCases(schema: Schema): FieldCase[] {
  if (!typesOf(schema).includes('integer')) return []
  const { minimum = -Infinity, maximum = Infinity } = schema
  const values = [minimum, maximum, minimum - 1, maximum + 1, 1.5, 1e21, 2 ** 53, Number.MIN_SAFE_INTEGER]
  return values.filter(Number.isFinite).map((value) => ({
    name: `the number ${value}`,
    value,
    accepted: Number.isInteger(value) && value >= minimum && value <= maximum,
  }))
}

function arrayCases({ items, minItems = 0, maxItems, type }: Schema): FieldCase[] {
  if (type !== 'array' || !items) return []
  const item = items.enum?.[0] ?? 'text'
  const list = (length: number) => Array.from({ length }, () => item)
  const cases: FieldCase[] = [
    { ...refused('a list with a wrong item', [item, 'nobody']), below: '.1' },
    { ...refused('a list with a list', [[item]]), below: '.0' },
    { name: `${minItems} items`, value: list(minItems), accepted: true },
  ]
  if (minItems > 0) cases.push(refused(`${minItems - 1} items`, list(minItems - 1)))
  if (maxItems === undefined) return cases
  return [
    ...cases,
    { name: `${maxItems} items`, value: list(maxItems), accepted: true },
    refused(`${maxItems + 1} items`, list(maxItems + 1)),
  ]
}

function typesOf({ type }: Schema): TypeName[] {
  const types = (type === undefined ? [] : Array.isArray(type) ? type : [type]) as TypeName[]
  return types.includes('number') ? [...types, 'integer'] : types
}

function refused(name: string, value: unknown): FieldCase {
  return { name, value, accepted: false }
}

/** Values for a field of the query, which is text to begin with. */
export function queryCases(schema: Schema): FieldCase[] {
  if (typesOf(schema).includes('integer')) return [...numberCases(schema).map(asText), ...NO_NUMBERS]
  return textCases(schema, { anyText: false }).filter(fitsIntoTarget)
}

const NO_NUMBERS = ['', ' 1', '1 ', '+1', '1e2', '0x10', '1.0', 'one', 'NaN', '1,2', '٣', '1\u0000'].map(
  (value) => refused(`the text ${JSON.stringify(value)}`, value),
)

/** Whether a text can stand in a request target: whole characters, and not more than the headers may hold. */
export function fitsIntoTarget({ value }: FieldCase): boolean {
  return typeof value === 'string' && value.isWellFormed() && encodeURIComponent(value).length < 8_000
}

function asText({ value, ...rest }: FieldCase): FieldCase {
  return { ...rest, value: String(value) }
}
