import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live, session } from '../platform.ts'
import type { MenuTree } from './tree.ts'

/** Only those who edit the tree may read what is hidden. */
export function readMenus(signal?: AbortSignal) {
  return call('getMenus', { query: { flat: true, all: session.may('editMenus') } }, signal)
}

/** The tree of the menus. */
export const menuTree: ResourceSource<MenuTree> = {
  live,
  prefix: 'menu.',
  read: (_, signal) => readMenus(signal),
}
