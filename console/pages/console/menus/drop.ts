import { childrenOf, type MenuNodes, type MenuPlace } from './tree.ts'

/** Where on a row something is dropped. */
export type DropZone = 'before' | 'inside' | 'after'

const EDGE = 0.28

/** The upper edge of a row means before it, the lower one after it. */
export function zoneAt({ top, height }: Pick<DOMRect, 'top' | 'height'>, y: number): DropZone {
  const part = (y - top) / height
  if (part < EDGE) return 'before'
  return part > 1 - EDGE ? 'after' : 'inside'
}

/** The place of a node that is dropped on a target. */
export function dropPlace(nodes: MenuNodes, id: string, target: string, zone: DropZone): MenuPlace {
  const others = nodes.filter((node) => node.id !== id)
  if (zone === 'inside') return { parent_id: target, index: childrenOf(others, target).length }
  const parent_id = nodes.find((node) => node.id === target)?.parent_id ?? null
  const index = childrenOf(others, parent_id).findIndex((node) => node.id === target)
  return { parent_id, index: zone === 'before' ? index : index + 1 }
}
