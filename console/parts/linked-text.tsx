import { linkParts } from './link-parts.ts'
import { visibleText } from './visible-text.ts'

/** A text of other people, whose web addresses are links. They open in a new tab, so that the console stays as it is. */
export function LinkedText({ text }: { readonly text: string }) {
  return (
    <>
      {linkParts(text).map((part, index) =>
        part.href === null ? (
          visibleText(part.text)
        ) : (
          <a key={index} href={part.href} target="_blank" rel="noopener noreferrer">
            {visibleText(part.text)}
          </a>
        ),
      )}
    </>
  )
}
