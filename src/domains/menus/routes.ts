import { Type, type TObject } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { ROLES, type Identity } from '../../kernel/identity.ts'
import { JsonText } from '../../kernel/text.ts'
import type { Tx } from '../../store/store.ts'
import { decoderOf, encoderOf } from '../../wire/codec.ts'
import { entityTag, parseIfMatch } from '../../wire/entity-tag.ts'
import { SHARED_ERRORS, type ErrorCodes } from '../../wire/error-codes.ts'
import { ok, routeOf, versioned, type Route } from '../../wire/route.ts'
import { checkedPattern, Fields, Nullable, PathName, Text, Timestamp } from '../../wire/schemas.ts'
import { placeEdit } from './items.ts'
import {
  branchesOf,
  orderedNodes,
  HIGHEST_POSITION,
  LEVEL_LIMIT,
  NODE_LIMIT,
  type MenuEdit,
} from './model.ts'
import type { Menus } from './service.ts'

const route = routeOf('Menus')

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
      summary: 'Read the tree of menus',
      description: 'Without disabled nodes and what is below them.',
      access: ROLES,
      query: MenuQuery,
      answers: {
        200: {
          description: 'The tree that the caller may see; `ETag` is its revision.',
          schema: MenuTreeSchema,
          hasTag: true,
          changesWithoutTag: true,
        },
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
      summary: 'Create, change, move and delete menus',
      description:
        'A field that is left out keeps its value. The edit is judged by the tree that it leads to, so the order of the ' +
        'items does not matter. With `If-Match` only that revision is changed.',
      access: WRITERS,
      body: MenuEditBody,
      answers: {
        200: versioned(
          'What has changed, as lists of ids; `ETag` is the revision of the tree.',
          MenuChangeSchema,
        ),
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

/** The id of the only item; null for an edit of several nodes, which is recorded without an object. */
function onlyItem({ items }: { readonly items: readonly object[] }): string | null {
  const [only] = items
  return items.length === 1 && only && 'id' in only ? String(only.id) : null
}

/** The other roles see what the shop shows. */
function requireAdmin({ roles }: Identity): void {
  if (roles.includes('admin')) return
  throw new AppError('forbidden', 'forbidden', 'Only an admin can read disabled menus.')
}

const Id = PathName('A-Za-z0-9._-', 64, {
  description: 'The client chooses it; 1 to 64 of `A-Z a-z 0-9 . _ -`, not `.` or `..`.',
  examples: ['shop-products'],
})
const Title = Text({ minLength: 1, maxLength: 100, examples: ['Products'] })
const ParentId = Nullable<string>({ ...Id, description: 'Null at the top.' })
const Path = Nullable<string>(
  Type.String({
    ...checkedPattern('^/[^\\u0000\\uD800-\\uDFFF]*$', '^/[^\\x00]*$', 'not_a_menu_path'),
    maxLength: 256,
    description: 'Begins with `/`.',
    examples: ['/products'],
  }),
)
const Icon = Nullable<string>(Text({ maxLength: 64, examples: ['box'] }))
const Position = Type.Integer({
  minimum: 0,
  maximum: HIGHEST_POSITION,
  description: 'Orders the children of one parent; where it is equal, the id does.',
})
const Enabled = Type.Boolean({ description: 'A disabled node hides all that is below it.' })

const FIELDS = {
  title: Title,
  parent_id: ParentId,
  path: Path,
  icon: Icon,
  position: Position,
  enabled: Enabled,
}
const NODE = { id: Id, ...FIELDS, created_at: Timestamp, updated_at: Timestamp }
const ITEM = { id: Id, ...Type.Partial(Fields(FIELDS)).properties }

const Revision = Type.Integer({ minimum: 1, description: 'Counts the changes of the tree; also its `ETag`.' })

// A schema for each level, because a schema that refers to itself has no end.
function nodeOn(level: number): TObject {
  const child =
    level < LEVEL_LIMIT ? Type.Array(nodeOn(level + 1)) : Type.Array(Type.Unknown(), { maxItems: 0 })
  return Fields({ ...NODE, children: Type.Optional(child) })
}

// The schema of an item at a level. It allows one level more than a tree may have, so that the rules refuse the edit with
// the path of the item. Deeper items are not read.
function itemOn(level: number): TObject {
  const child = level > LEVEL_LIMIT ? Type.Unknown() : itemOn(level + 1)
  return Fields({ ...ITEM, children: Type.Optional(Type.Array(child, { maxItems: NODE_LIMIT })) })
}

const MenuTreeSchema = Fields(
  {
    revision: Revision,
    items: Type.Array(nodeOn(1), { description: 'Siblings by `position`, then by `id`.' }),
  },
  { $id: 'MenuTree' },
)

const MenuQuery = Fields({
  all: Type.Optional(
    Type.Boolean({
      description: 'Whether disabled nodes, and the nodes below them, are included; only for the role admin.',
    }),
  ),
  flat: Type.Optional(
    Type.Boolean({
      description: 'Whether the answer is one list without `children`, each parent before its children.',
    }),
  ),
})

const MenuParams = Fields({
  id: Text({ minLength: 1, maxLength: 64, description: 'Id of the node.' }),
})

const MenuEditBody = Fields({
  items: Type.Array(itemOn(1), {
    maxItems: NODE_LIMIT,
    description: 'Nodes to create and to change, nested or flat, in any order. A new one needs `title`.',
  }),
  replace: Type.Optional(Type.Boolean({ description: 'Deletes the nodes that no item names.' })),
  dry_run: Type.Optional(Type.Boolean({ description: 'Changes nothing; the answer is the same.' })),
})

const Ids = Type.Array(Id)

const CHANGED = {
  revision: Revision,
  created: Ids,
  updated: Ids,
  moved: Type.Array(Id, { description: 'They have another parent.' }),
}

const MenuChangeSchema = Fields({ ...CHANGED, unchanged: Ids, deleted: Ids }, { $id: 'MenuChange' })

const decodeMenuEdit = decoderOf<MenuEdit>(MenuEditBody)

/** Nodes with `children`, or a list without. */
const encodeMenuTree = encoderOf(MenuTreeSchema)

const encodeMenuChange = encoderOf(MenuChangeSchema)

/** A change in its event. */
export const MenuEventSchema = Fields({
  ...CHANGED,
  deleted: Ids,
  truncated: Type.Optional(Type.Literal(true)),
})

export const encodeMenuEvent = encoderOf(MenuEventSchema)
