import type { ComponentChildren, RefObject } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

export interface PopoverProps {
  /** The name of what is opened. */
  readonly label: string
  /** A menu has only a {@link Choices}. */
  readonly kind: 'menu' | 'dialog'
  readonly isOpen: boolean
  readonly onOpen: () => void
  readonly onClose: () => void
  readonly buttonClass?: string
  /** What the button shows. */
  readonly face: ComponentChildren
  readonly children: ComponentChildren
}

/** A button, and below it what it opens: closed by Escape, and when the user goes on elsewhere. */
export function Popover({ label, kind, isOpen, onOpen, onClose, buttonClass, face, children }: PopoverProps) {
  const id = useId()
  const frame = useRef<HTMLDivElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (!isOpen) return undefined
    // The browser scrolls to the focused element, so the panel must be inside of the window first.
    moveIntoWindow(panel.current)
    firstIn(panel.current)?.focus()
    const onResize = () => moveIntoWindow(panel.current)
    addEventListener('resize', onResize)
    const onPointerDown = ({ target }: PointerEvent) => isOutside(frame, target) && onClose()
    document.addEventListener('pointerdown', onPointerDown)
    return () => {
      removeEventListener('resize', onResize)
      document.removeEventListener('pointerdown', onPointerDown)
    }
  }, [isOpen])
  return (
    <div
      class="popover"
      ref={frame}
      onKeyDown={(event) => {
        if (!isOpen || event.key !== 'Escape' || event.isComposing) return
        event.preventDefault()
        event.stopPropagation()
        frame.current?.querySelector('button')?.focus()
        onClose()
      }}
      // Without a related target the focused element was removed: the panel stays.
      onFocusOut={({ relatedTarget }) => relatedTarget && isOutside(frame, relatedTarget) && onClose()}
    >
      <button
        class={buttonClass ?? 'button'}
        type="button"
        aria-haspopup={kind}
        aria-expanded={isOpen}
        {...(isOpen && { 'aria-controls': id })}
        onClick={isOpen ? onClose : onOpen}
      >
        {face}
      </button>
      {isOpen && (
        <div class="popover-panel" id={id} ref={panel} role={kind} aria-label={label}>
          {children}
        </div>
      )}
    </div>
  )
}

function isOutside(frame: RefObject<HTMLElement | null>, target: EventTarget | null): boolean {
  return target instanceof Node && !frame.current?.contains(target)
}

/** The present choice, or else the first thing in a panel that takes the focus. */
function firstIn(panel: HTMLElement | null): HTMLElement | null | undefined {
  const find = (selector: string) => panel?.querySelector<HTMLElement>(selector)
  return find('[aria-checked="true"]') ?? find('input, button, a')
}

const EDGE_PX = 12
// The height of the top bar, which covers the page.
const TOP_BAR_PX = 57

/** A panel below a button at the right or the lower edge would leave the window. */
function moveIntoWindow(panel: HTMLElement | null): void {
  const button = panel?.parentElement?.getBoundingClientRect()
  if (!panel || !button) return
  panel.style.translate = ''
  panel.style.maxHeight = ''
  delete panel.dataset['side']
  const below = document.documentElement.clientHeight - button.bottom - EDGE_PX
  const above = button.top - TOP_BAR_PX - EDGE_PX
  const isAbove = panel.offsetHeight > below && above > below
  if (isAbove) panel.dataset['side'] = 'above'
  if (panel.offsetHeight > Math.max(above, below)) panel.style.maxHeight = `${Math.max(above, below)}px`
  const { left, right } = panel.getBoundingClientRect()
  const over = right + EDGE_PX - document.documentElement.clientWidth
  if (over > 0) panel.style.translate = `${-Math.min(over, Math.max(0, left - EDGE_PX))}px`
}

export interface Choice {
  readonly key: string
  readonly title: string
  /** Undefined for an entry that is an action, not a choice. */
  readonly isChosen?: boolean
}

export interface ChoicesProps {
  readonly choices: readonly Choice[]
  readonly onChoose: (key: string) => void
}

/** The entries of a menu: arrows, Home and End move through them, and a letter to the next one that begins with it. */
export function Choices({ choices, onChoose }: ChoicesProps) {
  const list = useRef<HTMLDivElement>(null)
  const move = (event: KeyboardEvent) => {
    const items = [...(list.current?.querySelectorAll<HTMLElement>('.choice') ?? [])]
    const next = nextChoice(items, event)
    if (!next) return
    event.preventDefault()
    next.focus()
  }
  return (
    <div class="choices" ref={list} role="presentation" onKeyDown={move}>
      {choices.map(({ key, title, isChosen }) => (
        <button
          key={key}
          class="choice"
          type="button"
          role={isChosen === undefined ? 'menuitem' : 'menuitemradio'}
          {...(isChosen !== undefined && { 'aria-checked': isChosen })}
          onClick={() => onChoose(key)}
        >
          <bdi>{title}</bdi>
        </button>
      ))}
    </div>
  )
}

function nextChoice(items: readonly HTMLElement[], { key, ctrlKey, metaKey, altKey }: KeyboardEvent) {
  const at = items.findIndex((item) => item === document.activeElement)
  if (key === 'ArrowDown') return items[(at + 1) % items.length]
  if (key === 'ArrowUp') return items.at(at <= 0 ? -1 : at - 1)
  if (key === 'Home') return items[0]
  if (key === 'End') return items.at(-1)
  if (key.length > 1 || key === ' ' || ctrlKey || metaKey || altKey) return undefined
  const wanted = key.toLowerCase()
  const others = [...items.slice(at + 1), ...items.slice(0, at + 1)]
  return others.find((item) => item.textContent.trim().toLowerCase().startsWith(wanted)) ?? items[at]
}
