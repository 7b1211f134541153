import type { MenuNode } from './model.ts'

/** The level of each node, 1 at the top. A node on a cycle, or below one, has none; neither has one below a missing parent. */
export function levelsOf(nodes: ReadonlyMap<string, MenuNode>): Map<string, number> {
  const children = Map.groupBy(nodes.values(), ({ parentId }) => parentId)
  const levels = new Map<string, number>()
  let level = 1
  for (let row = children.get(null) ?? []; row.length > 0; level++) {
    for (const { id } of row) levels.set(id, level)
    row = row.flatMap(({ id }) => children.get(id) ?? [])
  }
  return levels
}
