import { isRecord } from '../../src/kernel/text.ts'
import { Refusal } from '../mock-server/answers.ts'
import { invalidParameter, type JsonObject } from './answers.ts'

/** Reads the members of a JSON body. Each function throws a {@link Refusal} that names a member which is wrong. */
export class Fields {
  readonly #body: JsonObject

  constructor(body: JsonObject) {
    this.#body = body
  }

  /** A text that is not empty. */
  text(name: string): string {
    const value = this.optionalText(name)
    if (value === undefined || value === '') throw refusalOf(name, 'a text that is not empty')
    return value
  }

  optionalText(name: string): string | undefined {
    const value = this.#get(name)
    if (value === undefined) return undefined
    if (typeof value !== 'string' || !value.isWellFormed()) throw refusalOf(name, 'a text')
    return value
  }

  choice<T extends string>(name: string, choices: readonly T[], otherwise?: T): T {
    const value = this.#get(name) ?? otherwise
    const choice = choices.find((each) => each === value)
    if (choice === undefined) throw refusalOf(name, `one of ${choices.join(', ')}`)
    return choice
  }

  flag(name: string): boolean | undefined {
    const value = this.#get(name)
    if (value !== undefined && typeof value !== 'boolean') throw refusalOf(name, 'true or false')
    return value
  }

  integer(name: string, { minimum, maximum }: Range): number | undefined {
    const value = this.#get(name)
    if (value === undefined) return undefined
    const isGood =
      typeof value === 'number' && Number.isSafeInteger(value) && value >= minimum && value <= maximum
    if (!isGood) throw refusalOf(name, `an integer from ${minimum} to ${maximum}`)
    return value
  }

  /** A list of objects, at most `maximum` of them. */
  list(name: string, maximum: number): Fields[] | undefined {
    const value = this.#get(name)
    if (value === undefined) return undefined
    if (!Array.isArray(value) || value.length === 0 || value.length > maximum)
      throw refusalOf(name, `a list of 1 to ${maximum} objects`)
    return value.map((item: unknown) => {
      if (!isRecord(item)) throw refusalOf(name, 'a list of objects')
      return new Fields(item)
    })
  }

  /** A SHA-1 in hexadecimal digits, in upper case. */
  sha1(name: string): string | undefined {
    const value = this.optionalText(name)
    if (value === undefined || value === '') return undefined
    if (!/^[0-9a-f]{40}$/i.test(value)) throw refusalOf(name, '40 hexadecimal digits')
    return value.toUpperCase()
  }

  /** Null counts as omitted. */
  #get(name: string): unknown {
    return Object.hasOwn(this.#body, name) ? (this.#body[name] ?? undefined) : undefined
  }
}

interface Range {
  readonly minimum: number
  readonly maximum: number
}

/** `part_number` is reported as `PartNumber`. */
function refusalOf(name: string, expected: string): Refusal {
  const words = name.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return new Refusal(invalidParameter(words.join(''), `expected ${expected}`))
}
