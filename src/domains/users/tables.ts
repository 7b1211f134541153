import type { Generated } from 'kysely'

export interface UsersTable {
  seq: Generated<number>
  id: string
  name: string
  /** The name in lower case: names are unique without regard to case. */
  name_key: string
  password_hash: string
  /** Comma separated, in the order of the whitelist. */
  roles: string
  /** 1 or 0. */
  enabled: number
  /** Tokens carry the generation they were issued in; raising it ends them. */
  token_generation: number
  /** Tokens without a generation must have been issued at or after this time. */
  tokens_valid_from: number
  created_at: number
  updated_at: number
  last_login_at: number | null
}
