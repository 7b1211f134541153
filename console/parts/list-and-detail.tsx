import type { ComponentChildren } from 'preact'

export interface ListAndDetailProps {
  readonly children: ComponentChildren
  /** One object of the list; nothing where none is chosen. */
  readonly detail: ComponentChildren
}

/** A list with one of its objects beside it. */
export function ListAndDetail({ children, detail }: ListAndDetailProps) {
  return (
    <div class={detail ? 'list-and-detail has-detail' : 'list-and-detail'}>
      <div class="list-pane">{children}</div>
      {detail}
    </div>
  )
}
