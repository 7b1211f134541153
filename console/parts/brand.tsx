export interface BrandProps {
  readonly title: string
  /** False where the page has another heading. */
  readonly isHeading?: boolean
}

/** The mark of the platform beside the name of a page. */
export function Brand({ title, isHeading = true }: BrandProps) {
  const Element = isHeading ? 'h1' : 'p'
  return (
    <Element class="brand">
      <svg class="brand-mark" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
        <rect class="brand-tile" width="32" height="32" rx="8" />
        <path class="brand-line" d="M10 16C16 16 16 8.5 22 8.5M10 16H22M10 16C16 16 16 23.5 22 23.5" />
        <circle class="brand-end" cx="9.5" cy="16" r="4" />
        <circle class="brand-end" cx="23" cy="8.5" r="2.6" />
        <circle class="brand-end" cx="23" cy="16" r="2.6" />
        <circle class="brand-end" cx="23" cy="23.5" r="2.6" />
      </svg>
      <span class="brand-name">{title}</span>
    </Element>
  )
}
