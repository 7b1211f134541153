export interface JsonViewProps {
  readonly label: string
  readonly value: unknown
}

/** A JSON value as indented text. The region takes the focus, so that the keyboard can scroll it. */
export function JsonView({ label, value }: JsonViewProps) {
  return (
    <div class="json-view" role="region" aria-label={label} tabIndex={0}>
      <pre>
        <bdi>{JSON.stringify(value, null, 2)}</bdi>
      </pre>
    </div>
  )
}
