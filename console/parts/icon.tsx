import { h } from 'preact'
import { ICONS, type IconName } from './icons.ts'

/** An icon beside or instead of words. Screen readers skip it: the words are in the element around it. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="18" height="18" aria-hidden="true" focusable="false">
      {ICONS[name].map(([tag, attributes], index) => h(tag, { key: index, ...attributes }))}
    </svg>
  )
}
