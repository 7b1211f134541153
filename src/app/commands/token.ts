import { apiTokenLifetime } from '../../config/schema.ts'
import { changesBetween } from '../../kernel/audit.ts'
import { alignColumns } from '../../kernel/text.ts'
import type { Role } from '../../kernel/identity.ts'
import type { Page } from '../../kernel/page.ts'
import { toRfc3339 } from '../../kernel/time.ts'
import type { ShownToken } from '../../domains/users/index.ts'
import {
  COMMAND_LINE,
  commandRecord,
  configOf,
  parseLifetime,
  type CommandContext,
  type ConfigOptions,
} from './context.ts'
import { withUsers } from './user.ts'

const PAGE = 100

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

/** `platform token list` */
export async function listApiTokens(
  context: CommandContext,
  userName: string,
  options: ConfigOptions,
): Promise<void> {
  const { items } = await withUsers(context, configOf(context, options), async ({ users, apiTokens }) => {
    const { id } = await users.getByName(userName)
    const page: Page<ShownToken> = await apiTokens.list(id, { limit: PAGE })
    return page
  })
  const rows = items.map(({ id, name, roles, expiresAt, lastUsedAt, lastUsedFrom }) => [
    name,
    id,
    roles.join(',') || 'none',
    toRfc3339(expiresAt),
    lastUsedAt === null ? 'never' : `${toRfc3339(lastUsedAt)} from ${lastUsedFrom}`,
  ])
  context.stdout.write(alignColumns([['NAME', 'ID', 'ROLES', 'EXPIRES', 'LAST USED'], ...rows]))
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

/** Whoever can read the database may do anything with it. */
const COMMAND_LINE_IDENTITY = {
  id: COMMAND_LINE,
  name: COMMAND_LINE,
  roles: ['admin'],
  via: 'headers',
} as const
