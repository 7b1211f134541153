import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useActions } from './actions/actions.ts'
import { Button } from './button.tsx'
import { partWords } from './part-words.ts'
import { useObjectTitle } from './tab-title.ts'

export interface DrawerProps {
  readonly title: string
  /** Identifies the shown object: the focus moves when it changes. Default: the title. */
  readonly subject?: string
  readonly onClose: () => void
  /** Whether the focus stays where it is; otherwise the drawer takes it. */
  readonly leavesFocus?: (() => boolean) | undefined
  readonly children: ComponentChildren
}

/** One object beside its list, and in front of it where the window is narrow. It takes the focus when it opens, unless `leavesFocus` says otherwise. */
export function Drawer({ title, subject = title, onClose, leavesFocus, children }: DrawerProps) {
  const drawer = useRef<HTMLElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  useObjectTitle(title)
  useActions(() => [{ title: partWords().close, keys: 'Escape', isKeyOnly: true, run: onClose }])
  useLayoutEffect(() => {
    if (!leavesFocus?.()) heading.current?.focus({ preventScroll: true })
  }, [subject])
  useLayoutEffect(() => {
    const section = drawer.current
    return section ? keepFocus(section, () => heading.current?.focus({ preventScroll: true })) : undefined
  }, [])
  return (
    <section class="drawer card" ref={drawer} aria-labelledby="drawer-title">
      <header class="drawer-head">
        <h2 id="drawer-title" class="drawer-title" tabIndex={-1} ref={heading}>
          <bdi>{title}</bdi>
        </h2>
        <Button kind="icon" icon="close" aria-label={partWords().close} onClick={onClose} />
      </header>
      <div class="drawer-body">{children}</div>
    </section>
  )
}

/** Calls `onLost` when the focused element of this part of the page is removed. Returns a function that ends this. */
function keepFocus(part: HTMLElement, onLost: () => void): () => void {
  let last: EventTarget | null = null
  const onFocus = ({ target }: FocusEvent) => (last = target)
  const observer = new MutationObserver(() => {
    if (document.activeElement !== document.body || !(last instanceof Node) || last.isConnected) return
    last = null
    onLost()
  })
  part.addEventListener('focusin', onFocus)
  observer.observe(part, { childList: true, subtree: true })
  return () => {
    part.removeEventListener('focusin', onFocus)
    observer.disconnect()
  }
}
