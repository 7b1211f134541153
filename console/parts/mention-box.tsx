import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { mentionAt, namesFor } from './mentions.ts'

export interface MentionBoxProps {
  /** The name of the list. */
  readonly label: string
  readonly names: readonly string[]
  /** A form with one long text. */
  readonly children: ComponentChildren
}

interface Completion {
  readonly names: readonly string[]
  readonly chosen: number
  /** Where the name that is being typed begins. */
  readonly from: number
}

/** Offers names while one is typed behind an @ (WAI-ARIA, combobox with a list): arrows choose, Enter or Tab takes one, Escape closes. */
export function MentionBox({ label, names, children }: MentionBoxProps) {
  const id = useId()
  const frame = useRef<HTMLDivElement>(null)
  const completion = useSignal<Completion | null>(null)
  const field = () => frame.current?.querySelector('textarea') ?? null
  const close = () => (completion.value = null)
  const look = () => {
    const mention = mentionAt(field()?.value ?? '', field()?.selectionStart ?? 0)
    const found = mention ? namesFor(names, mention.typed) : []
    completion.value = mention && found.length > 0 ? { names: found, chosen: 0, from: mention.from } : null
  }
  const take = ({ names: offer, chosen, from }: Completion) => {
    const text = field()
    close()
    if (!text) return
    text.setRangeText(`${offer[chosen] ?? ''} `, from, text.selectionStart, 'end')
    text.dispatchEvent(new InputEvent('input', { bubbles: true }))
    text.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const offer = completion.value
    if (!offer || event.isComposing || event.ctrlKey || event.metaKey) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const count = offer.names.length
    if (step !== undefined) completion.value = { ...offer, chosen: (offer.chosen + step + count) % count }
    else if (event.key === 'Enter' || event.key === 'Tab') take(offer)
    else if (event.key === 'Escape') close()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  useLateNames(names, () => document.activeElement === field() && look())
  const offer = completion.value
  useActiveChoice(field, offer && `${id}-${offer.chosen}`, id)
  return (
    <div class="mention-box" ref={frame} onInput={look} onKeyDown={onKeyDown} onFocusOut={close}>
      {children}
      {offer && (
        <ul class="mention-list card" ref={placeBelowText} id={id} role="listbox" aria-label={label}>
          {offer.names.map((name, index) => (
            <li
              key={name}
              id={`${id}-${index}`}
              class="palette-item"
              role="option"
              aria-selected={index === offer.chosen}
              // Before the text loses the focus.
              onPointerDown={(event) => {
                event.preventDefault()
                take({ ...offer, chosen: index })
              }}
            >
              <bdi>{name}</bdi>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** The names stand below the text, in front of the button that sends it; the text may be at the lower edge of the window. */
function placeBelowText(list: HTMLElement | null): void {
  const frame = list?.parentElement
  const text = frame?.querySelector('textarea')
  if (!list || !frame || !text) return
  list.style.top = `${text.getBoundingClientRect().bottom - frame.getBoundingClientRect().top}px`
  list.scrollIntoView({ block: 'nearest' })
}

/** The names may be read only after the first letters are typed. */
function useLateNames(names: readonly string[], look: () => void): void {
  useEffect(() => look(), [names.join('\n')])
}

/** Tells assistive technology which name is chosen while the focus stays in the text. */
function useActiveChoice(field: () => HTMLElement | null, active: string | null, list: string): void {
  useEffect(() => {
    const text = field()
    if (!text || active === null) return undefined
    const attributes = { 'aria-autocomplete': 'list', 'aria-controls': list, 'aria-activedescendant': active }
    for (const [name, value] of Object.entries(attributes)) text.setAttribute(name, value)
    return () => {
      for (const name of Object.keys(attributes)) text.removeAttribute(name)
    }
  }, [active])
}
