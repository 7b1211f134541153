import { isolated } from '../../../i18n/isolated.ts'
import { localNumber } from '../../../i18n/local.ts'
import { childrenOf, titlesTo, type MenuNodes } from './tree.ts'
import { menuWords } from './words.ts'

/** Where a node is: the titles from the top to it, and its place among its siblings. Empty for an unknown node. */
export function placeText(nodes: MenuNodes, id: string): string {
  const node = nodes.find((each) => each.id === id)
  if (!node) return ''
  const place = childrenOf(nodes, node.parent_id).indexOf(node) + 1
  return menuWords().place(isolated(titlesTo(nodes, id).join(' › ')), localNumber(place))
}

/** A node that a draft changes: its titles, the place of a new one, or from where to where one moves. */
export function changeText(before: MenuNodes, after: MenuNodes, id: string): string {
  const [from, to] = [placeText(before, id), placeText(after, id)]
  if (from === '' && to !== '') return to
  if (from !== '' && to !== '' && from !== to) return menuWords().fromTo(from, to)
  return titlesTo(to === '' ? before : after, id).join(' › ') || id
}
