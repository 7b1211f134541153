import { AppError } from '../../kernel/errors.ts'
import { ROLES, type Identity } from '../../kernel/identity.ts'
import { JsonText } from '../../kernel/json-text.ts'
import type { Tx } from '../../store/store.ts'
import { parseIfMatch } from '../../wire/entity-tag.ts'
import { SHARED_ERRORS, type ErrorCodes } from '../../wire/error-codes.ts'
import { ok, route, type Route } from '../../wire/route.ts'
import { placeEdit } from './items.ts'
import { branchesOf, orderedNodes } from './model.ts'
import {
  decodeMenuEdit,
  encodeMenuChange,
  encodeMenuTree,
  MenuChangeSchema,
  MenuEditBody,
  MenuParams,
  MenuQuery,
  MenuTreeSchema,
} from './schemas.ts'
import type { Menus } from './service.ts'

const WRITERS = ['admin'] as const

export const MENU_ERRORS = {
  menu_not_found: { status: 404, meaning: 'There is no such node of the menus.' },
  menu_cycle: { status: 400, meaning: 'A node would be below itself; `details` names its item.' },
  menu_has_children: { status: 409, meaning: 'The node has children; delete or move them first.' },
} as const satisfies ErrorCodes

const { menu_not_found, menu_cycle, menu_has_children } = MENU_ERRORS
const { precondition_failed } = SHARED_ERRORS

/** docs/specification.md, Menus */
export function menuRoutes(menus: Menus): Route[] {
  /** The nodes by their ids, as the API names their fields: those that differ are the changes. */
  const nodesOf = async (tx: Tx) => {
    const { nodes } = await menus.read(tx)
    return Object.fromEntries(
      nodes.map(({ id, title, parentId: parent_id, path, icon, position, enabled }) => [
        id,
        { id, title, parent_id, path, icon, position, enabled },
      ]),
    )
  }
  return [
    route({
      method: 'GET',
      path: '/menus',
      operation: 'getMenus',
      tag: 'Menus',
      summary: 'Read the tree of menus',
      description: 'Without disabled nodes and what is below them.',
      access: ROLES,
      query: MenuQuery,
      answers: {
        200: { description: 'The tree; `ETag` is its revision.', schema: MenuTreeSchema, hasTag: true },
      },
      read: async ({ query: { all = false, flat = false }, identity }) => {
        if (all) requireAdmin(identity)
        const { revision, nodes } = await menus.read()
        const shown = all ? nodes : nodes.filter(({ enabled }) => enabled)
        const items = flat ? orderedNodes(shown) : branchesOf(shown)
        return ok(new JsonText(encodeMenuTree({ revision, items })), entityTag(revision))
      },
    }),
    route({
      method: 'PUT',
      path: '/menus',
      operation: 'editMenus',
      tag: 'Menus',
      summary: 'Create, change, move and delete menus',
      description:
        'A field that is left out keeps its value. The edit is judged by the tree that it leads to, so the order of the ' +
        'items does not matter. With `If-Match` only that revision is changed.',
      access: WRITERS,
      body: MenuEditBody,
      answers: {
        200: {
          description: 'What has changed, as lists of ids; `ETag` is the revision of the tree.',
          schema: MenuChangeSchema,
          hasTag: true,
        },
      },
      errors: { menu_cycle, precondition_failed },
      prepare: ({ body }) => placeEdit(decodeMenuEdit(body)),
      audit: { kind: 'menu', id: ({ body }) => onlyItem(body), before: nodesOf, after: nodesOf },
      change: async (tx, { identity, headers }, edit) => {
        const change = await menus.edit(tx, edit, identity.id, parseIfMatch(headers['if-match']))
        const text = new JsonText(encodeMenuChange(change))
        return edit.dryRun ? ok(text) : ok(text, entityTag(change.revision))
      },
    }),
    route({
      method: 'DELETE',
      path: '/menus/:id',
      operation: 'deleteMenu',
      tag: 'Menus',
      summary: 'Delete one node of the menus, which has no children',
      description: 'With `If-Match` only if the tree has that revision.',
      access: WRITERS,
      params: MenuParams,
      answers: { 204: { description: 'Deleted.' } },
      errors: { menu_not_found, menu_has_children, precondition_failed },
      audit: { kind: 'menu', before: nodesOf, after: nodesOf },
      change: async (tx, { params, identity, headers }) => {
        await menus.remove(tx, params.id, identity.id, parseIfMatch(headers['if-match']))
        return { status: 204 }
      },
    }),
  ]
}

/** An edit of many nodes is recorded for none of them. */
function onlyItem({ items }: { readonly items: readonly object[] }): string | null {
  const [only] = items
  return items.length === 1 && only && 'id' in only ? String(only.id) : null
}

/** The other roles see what the shop shows. */
function requireAdmin({ roles }: Identity): void {
  if (roles.includes('admin')) return
  throw new AppError('forbidden', 'forbidden', 'Only an admin can read disabled menus.')
}

function entityTag(revision: number): Record<string, string> {
  return { etag: `"${revision}"` }
}
