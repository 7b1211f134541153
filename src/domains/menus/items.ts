import { LEVEL_LIMIT, type MenuEdit, type MenuItem } from './model.ts'

/** An item of an edit, with its place in the body. */
export interface PlacedItem {
  readonly item: MenuItem
  /** `items.0.children.2` */
  readonly path: string
  /** Id of the item that it is nested in. */
  readonly nestedIn: string | undefined
}

/** An edit with the places of its items. */
export interface PlacedEdit extends Omit<MenuEdit, 'items'> {
  readonly items: readonly PlacedItem[]
}

/** Computes, before the transaction, everything that needs no database. */
export function placeEdit(edit: MenuEdit): PlacedEdit {
  return { ...edit, items: placeItems({ items: edit.items, path: 'items', nestedIn: undefined, level: 1 }) }
}

interface NestedItems {
  readonly items: readonly MenuItem[]
  readonly path: string
  readonly nestedIn: string | undefined
  readonly level: number
}

/** The items of a list and the items nested in them, each before its children. */
function placeItems({ items, path: listPath, nestedIn, level }: NestedItems): PlacedItem[] {
  return items.flatMap((item, index) => {
    const path = `${listPath}.${index}`
    const placed = { item, path, nestedIn }
    // One level more than the limit is enough to refuse the edit.
    if (!item.children || level > LEVEL_LIMIT) return [placed]
    const nested = { items: item.children, path: `${path}.children`, nestedIn: item.id, level: level + 1 }
    return [placed, ...placeItems(nested)]
  })
}
