import { signal } from '@preact/signals'
import { readLocal, writeLocal } from '../preferences.ts'
import type { ListQuery } from './list-query.ts'

/** Filters, an order and columns under a name of the user's own. */
export interface KeptView {
  readonly name: string
  readonly query: ListQuery
}

/** What a user has chosen for a list. */
export interface KeptList {
  /** The keys of the columns. */
  readonly columns?: readonly string[] | undefined
  readonly views?: readonly KeptView[]
}

type KeptLists = Readonly<Record<string, KeptList>>

const lists = signal<KeptLists>({})
let key = ''

/** Loads what this user has chosen in this browser, also in another tab. Later changes are stored for this user. */
export function loadListsOf(userId: string | undefined): void {
  key = `platform.lists.${userId ?? ''}`
  lists.value = readLists()
}

/** What the user has chosen for the list at this path. */
export function keptList(path: string): KeptList {
  return lists.value[path] ?? {}
}

/** Changes what is kept for a list. Another tab may have kept something since, so that it is read again. */
export function keepList(path: string, change: (kept: KeptList) => KeptList): void {
  const known = readLists()
  lists.value = { ...known, [path]: change(known[path] ?? {}) }
  writeLocal(key, JSON.stringify(lists.value))
}

/** Keeps a view; another one of the same name is replaced. */
export function keepView(path: string, view: KeptView): void {
  keepList(path, (kept) => ({ ...kept, views: [...withoutView(kept, view.name), view] }))
}

export function removeView(path: string, name: string): void {
  keepList(path, (kept) => ({ ...kept, views: withoutView(kept, name) }))
}

export function renameView(path: string, from: string, to: string): void {
  const withNewName = (view: KeptView) => (view.name === from ? { ...view, name: to } : view)
  keepList(path, (kept) => ({
    ...kept,
    views: (from === to ? (kept.views ?? []) : withoutView(kept, to)).map(withNewName),
  }))
}

function withoutView({ views = [] }: KeptList, name: string): readonly KeptView[] {
  return views.filter((view) => view.name !== name)
}

/** Another version of the console, or a person, may have stored something else there. */
function readLists(): KeptLists {
  try {
    const found: unknown = JSON.parse(readLocal(key) ?? '{}')
    if (typeof found !== 'object' || found === null) return {}
    return Object.fromEntries(Object.entries(found).map(([path, list]) => [path, readList(list)]))
  } catch {
    return {}
  }
}

function readList(list: unknown): KeptList {
  const { columns, views } = (list ?? {}) as { columns?: unknown; views?: unknown }
  return {
    ...(Array.isArray(columns) && { columns: columns.filter((column) => typeof column === 'string') }),
    ...(Array.isArray(views) && { views: views.filter(isView) }),
  }
}

function isView(view: unknown): view is KeptView {
  const { name, query } = (view ?? {}) as { name?: unknown; query?: unknown }
  if (typeof name !== 'string' || typeof query !== 'object' || query === null) return false
  return Object.values(query).every((value) => typeof value === 'string')
}
