import { ROLES } from '../../kernel/identity.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { MENU_EVENTS } from './model.ts'
import { MENU_ERRORS, menuRoutes, encodeMenuEvent, MenuEventSchema } from './routes.ts'
import { Menus, type MenuDeps } from './service.ts'
import { names } from './tables.ts'

export type { MenuEventData } from './model.ts'
export type { MenuChange, MenuEdit, MenuItem, MenuNode, MenuTree } from './model.ts'
export { Menus, type MenuDeps } from './service.ts'

/** The tree of the shop's menus (docs/specification.md, Menus). */
export const menusDomain = defineDomain({
  name: 'menus',
  tables: names,
  events: MENU_EVENTS,
  eventSchemas: { 'menu.*': MenuEventSchema },
  eventReaders: ROLES,
  errors: MENU_ERRORS,
  encodeEvent: encodeMenuEvent,
  create: (deps: MenuDeps) => {
    const menus = new Menus(deps)
    return { service: menus, routes: menuRoutes(menus), jobs: {} } satisfies DomainParts
  },
})
