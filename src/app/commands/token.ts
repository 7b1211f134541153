import { apiTokenLifetime } from '../../config/schema.ts'
import { changesBetween } from '../../kernel/audit.ts'
import { alignColumns } from '../../kernel/text.ts'
import type { Role } from '../../kernel/identity.ts'
import { toRfc3339 } from '../../kernel/time.ts'
import type { ApiTokens, User } from '../../domains/users/index.ts'
import {
  COMMAND_LINE,
  commandRecord,
  configOf,
  parseLifetime,
  type CommandContext,
  type ConfigOptions,
} from './context.ts'
import { listAllUsers, withUsers } from './user.ts'

// A user has 100 valid ones, and those that have ended in the last 30 days.
const PAGE = 1_000

export interface NewTokenOptions extends ConfigOptions {
  readonly name: string
  readonly ttl?: string
  readonly role?: readonly Role[]
}

/** `platform token create`: prints only the token, so that a script can use the output. */
export async function createApiToken(
  context: CommandContext,
  userName: string,
  options: NewTokenOptions,
): Promise<void> {
  const expiresInMs = options.ttl === undefined ? undefined : parseLifetime(options.ttl, apiTokenLifetime)
  const { token } = await withUsers(
    context,
    configOf(context, options),
    async ({ store, users, apiTokens, audit }) => {
      const { id } = await users.getByName(userName)
      const wanted = { name: options.name, expiresInMs, roles: options.role }
      return store.write(async (tx) => {
        const created = await apiTokens.create(tx, id, wanted, COMMAND_LINE_IDENTITY)
        const state = await apiTokens.stateOf(tx, created.id)
        const changes = changesBetween(undefined, state)
        await audit.record(tx, commandRecord(context, 'token.create', { kind: 'user', id }, changes))
        return created
      })
    },
  )
  context.stdout.write(`${token.reveal()}\n`)
}

/** `platform token list`: those of one user, or of all. */
export async function listApiTokens(
  context: CommandContext,
  userName: string | undefined,
  options: ConfigOptions,
): Promise<void> {
  const rows = await withUsers(context, configOf(context, options), async ({ users, apiTokens }) => {
    const owners = userName === undefined ? await listAllUsers(users) : [await users.getByName(userName)]
    const found: string[][] = []
    for (const owner of owners) found.push(...(await tokenRows(apiTokens, owner)))
    return found
  })
  context.stdout.write(alignColumns([['USER', 'NAME', 'ID', 'ROLES', 'EXPIRES', 'LAST USED'], ...rows]))
}

async function tokenRows(apiTokens: ApiTokens, owner: User): Promise<string[][]> {
  const { items } = await apiTokens.list(owner.id, { limit: PAGE })
  return items.map(({ id, name, roles, expiresAt, lastUsedAt, lastUsedFrom }) => [
    owner.name,
    name,
    id,
    roles.join(',') || 'none',
    toRfc3339(expiresAt),
    lastUsedAt === null ? 'never' : `${toRfc3339(lastUsedAt)} from ${lastUsedFrom}`,
  ])
}

/** `platform token revoke` */
export async function revokeApiToken(
  context: CommandContext,
  userName: string,
  id: string,
  options: ConfigOptions,
): Promise<void> {
  await withUsers(context, configOf(context, options), async ({ store, users, apiTokens, audit }) => {
    const user = await users.getByName(userName)
    await store.write(async (tx) => {
      const changes = changesBetween(await apiTokens.stateOf(tx, id), undefined)
      await apiTokens.revoke(tx, user.id, id, COMMAND_LINE)
      await audit.record(tx, commandRecord(context, 'token.revoke', { kind: 'user', id: user.id }, changes))
    })
  })
  context.stdout.write(`revoked the token ${id} of ${userName}\n`)
}

/** The identity of the command line: whoever can read the database may do everything with it. */
const COMMAND_LINE_IDENTITY = {
  id: COMMAND_LINE,
  name: COMMAND_LINE,
  roles: ['admin'],
  via: 'headers',
} as const
