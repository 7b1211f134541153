import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live, session } from '../platform.ts'
import type { MenuTree } from './tree.ts'

/** The tree of the menus. Only those who edit it may read what is hidden. */
export const menuTree: ResourceSource<MenuTree> = {
  live,
  prefix: 'menu.',
  read: (_, signal) => call('getMenus', { query: { flat: true, all: session.may('editMenus') } }, signal),
  isAbout: () => true,
}
