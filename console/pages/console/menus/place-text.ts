import { isolateText } from '../../../i18n/isolate-text.ts'
import { localNumber } from '../../../i18n/local.ts'
import { partWords } from '../../../parts/part-words.ts'
import { NODE_FIELDS, type Aspect } from './differences.ts'
import { byId } from './draft.ts'
import { childrenOf, nodeWithId, titlesTo, type MenuNodes } from './tree.ts'
import { menuWords } from './words.ts'

/** Where a node is: the titles from the top to it, and its place among its siblings. Empty for an unknown node. */
export function placeText(nodes: MenuNodes, id: string): string {
  const place = placeOf(nodes, id)
  if (!place) return ''
  return menuWords().place(isolateText(titlesTo(nodes, id).join(' › ')), localNumber(place.number))
}

/** The place of a node among its siblings, from 1. */
function placeOf(nodes: MenuNodes, id: string) {
  const node = nodeWithId(nodes, id)
  return node && { parentId: node.parent_id, number: childrenOf(nodes, node.parent_id).indexOf(node) + 1 }
}

/** A node that a draft changes: the place of a new one, its titles or from where to where it moves, and its changed fields. */
export function changeText(before: MenuNodes, after: MenuNodes, id: string): string {
  const [from, to] = [placeOf(before, id), placeOf(after, id)]
  if (!from && to) return placeText(after, id)
  const isMoved = from && to && (from.parentId !== to.parentId || from.number !== to.number)
  const head = isMoved
    ? menuWords().fromTo(placeText(before, id), placeText(after, id))
    : titlesTo(before, id).join(' › ') || id
  return [head, ...fieldChanges(before, after, id)].join('\n')
}

/** Each changed field of a node with its value before and after. */
function fieldChanges(before: MenuNodes, after: MenuNodes, id: string): readonly string[] {
  const [old, changed] = [byId(before).get(id), byId(after).get(id)]
  if (!old || !changed) return []
  return NODE_FIELDS.filter((field) => old[field] !== changed[field]).map((field) => {
    const [from, to] = [before, after].map((nodes) => isolateText(valueText(nodes, id, field)))
    return `${aspectText(field)}: ${menuWords().fromTo(from ?? '', to ?? '')}`
  })
}

/** The words for an aspect of a node that can change. */
export function aspectText(aspect: Aspect): string {
  const { fields, aspects } = menuWords()
  return { ...fields, ...aspects }[aspect]
}

/** The words for an aspect of a node in a version of the tree. */
export function valueText(nodes: MenuNodes, id: string, aspect: Aspect): string {
  const { gone, none } = menuWords()
  const { yes, no } = partWords()
  const node = byId(nodes).get(id)
  if (!node) return gone
  if (aspect === 'node') return [placeText(nodes, id), node.path].filter(Boolean).join(' · ')
  if (aspect === 'place') return placeText(nodes, id)
  if (aspect === 'enabled') return node.enabled ? yes : no
  return node[aspect] ?? none
}
