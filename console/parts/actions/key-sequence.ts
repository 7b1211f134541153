// A pause that is longer begins a new sequence.
const PAUSE_MS = 1_500

/** Recognizes the keys of actions, also several keys one after the other. */
export class KeySequence {
  #pressed: readonly string[] = []
  #at = -Infinity

  /** The keys that are complete with this one, such as `g o`; undefined if there are none. */
  press(key: string, at: number, known: readonly string[]): string | undefined {
    const before = at - this.#at > PAUSE_MS ? [] : this.#pressed
    this.#at = at
    for (const keys of [[...before, key], [key]]) {
      const text = keys.join(' ')
      if (known.includes(text)) {
        this.#pressed = []
        return text
      }
      this.#pressed = keys
      if (known.some((each) => each.startsWith(`${text} `))) return undefined
    }
    this.#pressed = []
    return undefined
  }
}
