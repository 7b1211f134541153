import { Fragment, type ComponentChildren } from 'preact'
import { LinkedText } from './linked-text.tsx'
import { visibleText } from './visible-text.ts'

export type Fact = readonly [name: string, value: ComponentChildren]

/** Names and values of an object; a value that is null or empty is left out. Text of other people is isolated, so that its direction does not reorder the page, and its web addresses are links. */
export function FactList({ facts }: { readonly facts: readonly Fact[] }) {
  const filled = facts.filter(([, value]) => value !== null && value !== '')
  return (
    <dl class="fact-list">
      {filled.map(([name, value]) => (
        <div key={name}>
          <dt>
            <bdi>{withLineBreaks(visibleText(name))}</bdi>
          </dt>
          <dd>
            {typeof value === 'string' ? (
              <bdi>
                <LinkedText text={value} />
              </bdi>
            ) : (
              value
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** A long name of a program, such as `disk.free_bytes`, breaks behind its signs and not inside a word. */
function withLineBreaks(name: string): ComponentChildren {
  return name.split(/(?<=[._/-])/).map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ))
}
