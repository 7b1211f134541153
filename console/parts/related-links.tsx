import { Icon } from './icon.tsx'
import type { IconName } from './icons.ts'
import { partWords } from './part-words.ts'
import { Section } from './section.tsx'

export interface RelatedLink {
  readonly icon: IconName
  readonly title: string
  readonly href: string
}

/** Leads from an object to the lists that have what belongs to it; false stands for a list that the roles do not allow. */
export function RelatedLinks({ links }: { readonly links: readonly (RelatedLink | false)[] }) {
  const allowed = links.filter((link) => link !== false)
  if (allowed.length === 0) return null
  return (
    <Section title={partWords().related}>
      <ul class="related-links">
        {allowed.map(({ icon, title, href }) => (
          <li key={href}>
            <a class="button" href={href}>
              <Icon name={icon} />
              {title}
            </a>
          </li>
        ))}
      </ul>
    </Section>
  )
}
