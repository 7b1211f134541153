import type { ButtonHTMLAttributes } from 'preact'
import { Icon } from './icon.tsx'
import type { IconName } from './icons.ts'

export interface ButtonProps extends Omit<ButtonHTMLAttributes, 'class' | 'icon'> {
  /** `main` does what the page or the form is for; `icon` has no words, and needs an `aria-label`. */
  readonly kind?: 'main' | 'danger' | 'quiet' | 'icon' | undefined
  /** In front of the words. */
  readonly icon?: IconName
}

/** A button that sends a form only if its `type` says so. */
export function Button({ kind, icon, children, ...attributes }: ButtonProps) {
  return (
    <button class={kind ? `button button-${kind}` : 'button'} type="button" {...attributes}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}
