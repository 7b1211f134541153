import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useRef } from 'preact/hooks'
import { useActions } from '../../../parts/actions/actions.ts'
import { Icon } from '../../../parts/icon.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { useFocusReturn } from '../../../parts/use-focus-return.ts'
import { moveOf } from './move-keys.ts'
import {
  moveNode,
  nodeWithId,
  placeAfter,
  rowsOf,
  childrenOf,
  type MenuMove,
  type MenuNodes,
  type MenuRow,
  type MenuPlace,
} from './tree.ts'
import { menuWords } from './words.ts'

export interface TreeViewProps {
  readonly nodes: MenuNodes
  readonly selected: string | undefined
  readonly open: (id: string, isByMouse: boolean) => void
  /** Missing where the user may only read. */
  readonly change?: ((nodes: MenuNodes, moved: string) => void) | undefined
}

/** The tree (WAI-ARIA, tree view): the arrow keys move through it; with Alt they move the node, and so does the mouse. */
export function TreeView({ nodes, selected, open, change }: TreeViewProps) {
  const rows = rowsOf(nodes)
  const tree = useRef<HTMLUListElement>(null)
  const dragged = useSignal<string | null>(null)
  const focused = useSignal(selected)
  const current = rows.find(({ node }) => node.id === focused.value) ?? rows[0]
  const { focus, returnFocus } = useRowFocus(tree, rows)
  // Without the focus in the tree, it goes to the row that had it last.
  const step = (by: 1 | -1) => {
    const from = [...(tree.current?.children ?? [])].findIndex((row) => row === document.activeElement)
    if (from === -1) focus(rows.findIndex((row) => row === current))
    else focus(Math.min(rows.length - 1, Math.max(0, from + by)))
  }
  const words = menuWords()
  useActions(() => [
    { title: words.next, keys: 'j', isKeyOnly: true, run: () => step(1) },
    { title: words.previous, keys: 'k', isKeyOnly: true, run: () => step(-1) },
  ])
  const move = (id: string, direction: MenuMove) => {
    const place = placeAfter(nodes, id, direction)
    if (!place || !change) return
    const moved = moveNode(nodes, id, place)
    returnFocus(id)
    change(moved, id)
  }
  const onKeyDown = (row: MenuRow, event: KeyboardEvent) => {
    const direction = moveOf(event)
    if (direction) move(row.node.id, direction)
    else if (event.key === 'Enter' || event.key === ' ') open(row.node.id, false)
    else {
      const target = targetOf(rows, rows.indexOf(row), event.key)
      if (target === undefined || event.altKey) return
      focus(target)
    }
    event.preventDefault()
  }
  const drop = (target: string, zone: DropZone) => {
    const id = dragged.value
    dragged.value = null
    if (id !== null && id !== target) change?.(moveNode(nodes, id, dropPlace(nodes, id, target, zone)), id)
  }
  return (
    <ul class="menu-tree card" role="tree" aria-label={words.tree} ref={tree}>
      {rows.map((row) => (
        <TreeRow
          key={row.node.id}
          row={row}
          isSelected={row.node.id === selected}
          isCurrent={row === current}
          isMovable={change !== undefined}
          onFocus={() => (focused.value = row.node.id)}
          onOpen={() => open(row.node.id, true)}
          onKeyDown={(event) => onKeyDown(row, event)}
          onDrag={() => (dragged.value = row.node.id)}
          onDrop={(zone) => drop(row.node.id, zone)}
        />
      ))}
    </ul>
  )
}

/** A node that changes its place in the document loses the focus, which `returnFocus` gives back by its id. */
function useRowFocus(tree: RefObject<HTMLElement | null>, rows: readonly MenuRow[]) {
  const rowAt = (index: number) => tree.current?.children[index] as HTMLElement | undefined
  return {
    focus: (index: number) => rowAt(index)?.focus(),
    returnFocus: useFocusReturn((id: string) => rowAt(rows.findIndex(({ node }) => node.id === id))),
  }
}

/** The row to which a key leads. */
function targetOf(rows: readonly MenuRow[], from: number, key: string): number | undefined {
  const level = rows[from]?.level ?? 1
  switch (key) {
    case 'ArrowDown':
      return Math.min(from + 1, rows.length - 1)
    case 'ArrowUp':
      return Math.max(from - 1, 0)
    case 'ArrowRight':
      return rows[from + 1]?.level === level + 1 ? from + 1 : from
    case 'ArrowLeft': {
      const parent = rows.slice(0, from).findLastIndex((row) => row.level < level)
      return parent === -1 ? from : parent
    }
    case 'Home':
      return 0
    case 'End':
      return rows.length - 1
    default:
      return undefined
  }
}

interface TreeRowProps {
  readonly row: MenuRow
  readonly isSelected: boolean
  /** Whether the tab key leads to this row. */
  readonly isCurrent: boolean
  readonly isMovable: boolean
  readonly onFocus: () => void
  readonly onOpen: () => void
  readonly onKeyDown: (event: KeyboardEvent) => void
  readonly onDrag: () => void
  readonly onDrop: (zone: DropZone) => void
}

function TreeRow({ row, isSelected, isCurrent, isMovable, ...handlers }: TreeRowProps) {
  const { node, level, index, count } = row
  const zone = useSignal<DropZone | null>(null)
  const { onFocus, onOpen, onKeyDown, onDrag, onDrop } = handlers
  return (
    <li
      class={`menu-row ${zone.value ? `menu-drop-${zone.value}` : ''}`}
      role="treeitem"
      aria-level={level}
      aria-posinset={index + 1}
      aria-setsize={count}
      aria-selected={isSelected}
      tabIndex={isCurrent ? 0 : -1}
      draggable={isMovable}
      style={{ '--level': level }}
      onFocus={onFocus}
      onClick={onOpen}
      onKeyDown={onKeyDown}
      onDragStart={onDrag}
      onDragOver={(event) => {
        event.preventDefault()
        zone.value = zoneAt(event.currentTarget.getBoundingClientRect(), event.clientY)
      }}
      onDragLeave={() => (zone.value = null)}
      onDrop={(event) => {
        event.preventDefault()
        const dropped = zone.value ?? 'inside'
        zone.value = null
        onDrop(dropped)
      }}
    >
      {isMovable && (
        <span class="menu-grip">
          <Icon name="grip" />
        </span>
      )}
      <bdi class="menu-title">{node.title}</bdi>
      {node.path !== null && <bdi class="menu-path mono">{node.path}</bdi>}
      {!node.enabled && <StatusBadge tone="quiet" label={menuWords().hidden} />}
    </li>
  )
}

/** Where on a row something is dropped. */
type DropZone = 'before' | 'inside' | 'after'

const EDGE = 0.28

/** The upper edge of a row means before it, the lower one after it. */
function zoneAt({ top, height }: Pick<DOMRect, 'top' | 'height'>, y: number): DropZone {
  const part = (y - top) / height
  if (part < EDGE) return 'before'
  return part > 1 - EDGE ? 'after' : 'inside'
}

/** The place of a node that is dropped on a target. */
function dropPlace(nodes: MenuNodes, id: string, target: string, zone: DropZone): MenuPlace {
  const others = nodes.filter((node) => node.id !== id)
  if (zone === 'inside') return { parent_id: target, index: childrenOf(others, target).length }
  const parent_id = nodeWithId(nodes, target)?.parent_id ?? null
  const index = childrenOf(others, parent_id).findIndex((node) => node.id === target)
  return { parent_id, index: zone === 'before' ? index : index + 1 }
}
