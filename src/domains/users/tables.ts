import { knownRoles, type Role } from '../../kernel/identity.ts'
import { Secret } from '../../kernel/secret.ts'
import { defineColumns, encoded, flag, generated, integer, text } from '../../store/columns.ts'
import { schemaOf } from '../../store/schema.ts'

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

export const { db, names, pages, statement } = schemaOf({ users })
