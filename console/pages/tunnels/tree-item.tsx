import type { PlacedNode } from './placed.ts'
import type { Frame } from './frame.ts'
import { NodeShape } from './picture-nodes.tsx'
import type { Present } from './presence.ts'
import { describeNode } from './describe.ts'

export interface TreeItemActions {
  /** Marks the node under the pointer or with the focus; null for none. */
  point(key: string | null): void
  focus(key: string): void
  select(node: PlacedNode): void
  onKeyDown(event: KeyboardEvent, node: PlacedNode): void
}

interface TreeItemProps {
  readonly node: PlacedNode
  readonly phase: Present<PlacedNode>['phase']
  readonly frame: Frame
  readonly at: number
  readonly isFaint: boolean
  readonly isSelected: boolean
  readonly isTabStop: boolean
  readonly actions: TreeItemActions
}

/** A node as an item of the tree, with its label and its keys. */
export function TreeItem({ node, phase, frame, at, isFaint, isSelected, isTabStop, actions }: TreeItemProps) {
  return (
    <g
      data-key={node.key}
      class={nodeClass(node, phase, isFaint, isSelected)}
      style={{ transform: `translate(${node.x}px, ${node.y}px)` }}
      role={phase === 'leaving' ? 'none' : 'treeitem'}
      aria-hidden={phase === 'leaving'}
      aria-level={levelOf(node)}
      aria-selected={isSelected}
      aria-expanded={node.kind === 'user' ? node.form === 'box' : undefined}
      aria-label={describeNode(node, at)}
      tabindex={isTabStop ? 0 : -1}
      onPointerEnter={() => actions.point(node.key)}
      onFocus={() => actions.focus(node.key)}
      onBlur={() => actions.point(null)}
      onClick={() => actions.select(node)}
      onKeyDown={(event) => actions.onKeyDown(event, node)}
    >
      <g class="node-inner">
        <NodeShape node={node} frame={frame} at={at} />
      </g>
    </g>
  )
}

function nodeClass(node: PlacedNode, phase: string, isFaint: boolean, isSelected: boolean): string {
  const form = node.kind === 'user' ? node.form : node.kind
  return ['node', `node-${form}`, phase, isFaint && 'faint', isSelected && 'selected']
    .filter(Boolean)
    .join(' ')
}

function levelOf({ kind }: PlacedNode): number {
  return kind === 'gateway' ? 1 : kind === 'user' || kind === 'more' ? 2 : 3
}
