/** A body that is written as JSON already: it goes out as it is. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}

/** The JSON of a body. */
export function toJsonText(body: unknown): string {
  return body instanceof JsonText ? body.text : JSON.stringify(body)
}
