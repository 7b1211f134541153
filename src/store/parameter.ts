/** Stands for a value in a statement that is compiled before its values are known. */
export class Parameter {
  readonly #name: string
  readonly #encode: ((value: unknown) => unknown) | undefined

  constructor(name: string, encode?: (value: unknown) => unknown) {
    this.#name = name
    this.#encode = encode
  }

  valueIn(parameters: object): unknown {
    const value = (parameters as Record<string, unknown>)[this.#name]
    return this.#encode ? this.#encode(value) : value
  }

  encoded(encode: (value: unknown) => unknown): Parameter {
    return new Parameter(this.#name, encode)
  }
}

/** The encoded value; a parameter is encoded when it is bound. */
export function encodeValue(value: unknown, encode: (value: unknown) => unknown): unknown {
  return value instanceof Parameter ? value.encoded(encode) : encode(value)
}
