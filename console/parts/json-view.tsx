// Marks and overrides of the direction of writing (UAX #9): they would make the text look like another one.
const DIRECTION_CHARACTERS = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g

export interface JsonViewProps {
  readonly label: string
  readonly value: unknown
}

/** A JSON value as indented text. The region takes the focus, so that the keyboard can scroll it. */
export function JsonView({ label, value }: JsonViewProps) {
  return (
    <div class="json-view" role="region" aria-label={label} tabIndex={0}>
      <pre>
        <bdi>{jsonText(value)}</bdi>
      </pre>
    </div>
  )
}

function jsonText(value: unknown): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value, null, 2).replaceAll(DIRECTION_CHARACTERS, escape)
}
