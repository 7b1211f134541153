import { knownRoles, type Role } from '../../kernel/identity.ts'
import { Secret } from '../../kernel/secret.ts'
import { defineColumns, encoded, flag, generated, integer, text, schemaOf } from '../../store/columns.ts'

/** Comma separated, in the order of ROLES. */
const roles = encoded<readonly Role[], string>({
  encode: (value) => value.join(','),
  decode: (stored) => knownRoles(stored.split(',')),
})

const secret = encoded<Secret, string>({
  encode: (value) => value.reveal(),
  decode: (stored) => new Secret(stored),
})

export const users = defineColumns({
  seq: generated(),
  id: text(),
  name: text(),
  /** The name in lower case: names are unique without regard to case. */
  nameKey: text(),
  passwordHash: secret,
  roles,
  enabled: flag(),
  /** Tokens carry the generation in which they were issued; raising it ends them. */
  tokenGeneration: integer(),
  /** Tokens without a generation must have been issued at or after this time. */
  tokensValidFrom: integer(),
  createdAt: integer(),
  updatedAt: integer(),
  lastLoginAt: integer().nullable(),
})

/** A row for each change of a user, its deletion too; the user itself is in `users`. */
export const userChanges = defineColumns({
  revision: integer(),
  userId: text(),
  /** The name at the time of the change: a deleted user has no other row. */
  name: text(),
})

/** One row: the revision of the last change. */
const userRevisions = defineColumns({ name: text(), revision: integer() })

/** One row: what a standby knows of its primary. */
export const userMirrors = defineColumns({
  name: text(),
  /** The api of the primary; null until the first page of users is stored. */
  source: text().nullable(),
  /** Null until the first copy is complete. */
  revision: integer().nullable(),
  /** When the copy was last known to be current, in epoch milliseconds. */
  confirmedAt: integer().nullable(),
  /** The primary's address pool. */
  pool: text().nullable(),
})

/** Tokens of programs; the text of a token is stored nowhere. */
export const apiTokens = defineColumns({
  seq: generated(),
  id: text(),
  userId: text(),
  name: text(),
  /** SHA-256 of the text, in hexadecimal digits. */
  hash: text(),
  /** Null for all roles that the user has. */
  roles: roles.nullable(),
  createdAt: integer(),
  expiresAt: integer(),
  lastUsedAt: integer().nullable(),
  lastUsedFrom: text().nullable(),
})

/** Tokens of logins that their owners have ended, until they expire. */
export const endedTokens = defineColumns({ tokenId: text(), endedAt: integer(), expiresAt: integer() })

export const { changeRow, changeRows, db, lockable, names, pages, readRow, readRows } = schemaOf({
  users,
  user_changes: userChanges,
  user_revisions: userRevisions,
  user_mirrors: userMirrors,
  api_tokens: apiTokens,
  ended_tokens: endedTokens,
})
