/** A JSON value that is written already: it goes out as it is. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}
