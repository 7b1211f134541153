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

/** A table of one row: how often the tree was changed, and by whom and when the last time. */
const menuRevisions = defineColumns({
  name: text(),
  revision: integer(),
  changedBy: text(),
  changedAt: integer(),
})

export const { changeRows, db, names, readRow, readRows } = schemaOf({ menus, menu_revisions: menuRevisions })
