import { Type, type TObject } from 'typebox'
import { decoderOf, encoderOf } from '../../wire/codec.ts'
import { checked, Fields, Nullable, PathName, Text, Timestamp } from '../../wire/schemas.ts'
import { HIGHEST_POSITION, LEVEL_LIMIT, NODE_LIMIT, type MenuEdit } from './model.ts'

const Id = PathName('A-Za-z0-9._-', 64, {
  description: 'The client chooses it; 1 to 64 of `A-Z a-z 0-9 . _ -`, not `.` or `..`.',
  examples: ['shop-products'],
})
const Title = Text({ minLength: 1, maxLength: 100, examples: ['Products'] })
const ParentId = Nullable<string>({ ...Id, description: 'Null at the top.' })
const Path = Nullable<string>({
  ...Type.String({
    ...checked('^/[^\\u0000\\uD800-\\uDFFF]*$', '^/[^\\x00]*$', 'not_a_menu_path'),
    maxLength: 256,
    description: 'Begins with `/`.',
    examples: ['/products'],
  }),
})
const Icon = Nullable<string>({ ...Text({ maxLength: 64, examples: ['box'] }) })
const Position = Type.Integer({
  minimum: 0,
  maximum: HIGHEST_POSITION,
  description: 'Orders the children of one parent; where it is equal, the id does.',
})
const Enabled = Type.Boolean({ description: 'A disabled node hides all that is below it.' })

const NODE = {
  id: Id,
  title: Title,
  parent_id: ParentId,
  path: Path,
  icon: Icon,
  position: Position,
  enabled: Enabled,
  created_at: Timestamp,
  updated_at: Timestamp,
}

const ITEM = {
  id: Id,
  title: Type.Optional(Title),
  parent_id: Type.Optional(ParentId),
  path: Type.Optional(Path),
  icon: Type.Optional(Icon),
  position: Type.Optional(Position),
  enabled: Type.Optional(Enabled),
}

const Revision = Type.Integer({ minimum: 1, description: 'Counts the changes of the tree; also its `ETag`.' })

// A schema for each level, because a schema that refers to itself has no end.
function nodeOn(level: number): TObject {
  const child =
    level < LEVEL_LIMIT ? Type.Array(nodeOn(level + 1)) : Type.Array(Type.Unknown(), { maxItems: 0 })
  return Fields({ ...NODE, children: Type.Optional(child) })
}

// One level more than a tree may have: the edit is refused by its rules, with the path of the item. What is nested in that
// item is not read.
function itemOn(level: number): TObject {
  const child = level > LEVEL_LIMIT ? Type.Unknown() : itemOn(level + 1)
  return Fields({ ...ITEM, children: Type.Optional(Type.Array(child, { maxItems: NODE_LIMIT })) })
}

export const MenuTreeSchema = Fields(
  {
    revision: Revision,
    items: Type.Array(nodeOn(1), { description: 'Siblings by `position`, then by `id`.' }),
  },
  { $id: 'MenuTree' },
)

export const MenuQuery = Fields({
  all: Type.Optional(
    Type.Boolean({ description: 'With disabled nodes, and what is below them; only for the role admin.' }),
  ),
  flat: Type.Optional(
    Type.Boolean({ description: 'One list without `children`, each parent before its children.' }),
  ),
})

export const MenuParams = Fields({
  id: Text({ minLength: 1, maxLength: 64, description: 'Id of the node.' }),
})

export const MenuEditBody = Fields({
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

export const MenuChangeSchema = Fields({ ...CHANGED, unchanged: Ids, deleted: Ids }, { $id: 'MenuChange' })

export const decodeMenuEdit = decoderOf<MenuEdit>(MenuEditBody)

/** Nodes with `children`, or a list without. */
export const encodeMenuTree = encoderOf(MenuTreeSchema)

export const encodeMenuChange = encoderOf(MenuChangeSchema)

/** A change in its event. */
export const MenuEventSchema = Fields({
  ...CHANGED,
  deleted: Ids,
  truncated: Type.Optional(Type.Literal(true)),
})

export const encodeMenuEvent = encoderOf(MenuEventSchema)
