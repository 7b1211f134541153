import type { ComponentChildren } from 'preact'

export interface SectionProps {
  readonly title: string
  readonly children: ComponentChildren
}

/** A part of a drawer or of a page under its own title. */
export function Section({ title, children }: SectionProps) {
  return (
    <section>
      <h3 class="section-title">{title}</h3>
      {children}
    </section>
  )
}
