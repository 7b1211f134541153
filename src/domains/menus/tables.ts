import { defineColumns, flag, integer, text, schemaOf } from '../../store/columns.ts'

export const menus = defineColumns({
  id: text(),
  title: text(),
  parentId: text().nullable(),
  path: text().nullable(),
  icon: text().nullable(),
  position: integer(),
  enabled: flag(),
  createdAt: integer(),
  updatedAt: integer(),
})

/** One row: counts the changes of the whole tree, with the last one. */
const menuRevisions = defineColumns({
  name: text(),
  revision: integer(),
  changedBy: text(),
  changedAt: integer(),
})

export const { db, names, statement } = schemaOf({ menus, menu_revisions: menuRevisions })
