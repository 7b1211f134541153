/** A JSON value that is written already: in an answer or an event it goes out as it is. */
export class JsonText {
  readonly text: string

  #bytes: Buffer | undefined

  constructor(text: string) {
    this.text = text
  }

  /** The text in UTF-8, encoded once. */
  get bytes(): Buffer {
    return (this.#bytes ??= Buffer.from(this.text))
  }

  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}
