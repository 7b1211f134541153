import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { Config, LoadedConfig } from '../../config/config.ts'
import { apiTokenLifetime, tokenLifetime } from '../../config/schema.ts'
import { usersMirrored, type ApiTokens, type Auth, type User, type Users } from '../../domains/users/index.ts'
import { changesBetween } from '../../kernel/audit.ts'
import { systemClock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Role, TokenPurpose } from '../../kernel/identity.ts'
import { readPages } from '../../kernel/page.ts'
import { Secret } from '../../kernel/secret.ts'
import { alignColumns, formatCount } from '../../kernel/text.ts'
import { toRfc3339 } from '../../kernel/time.ts'
import type { Tx } from '../../store/store.ts'
import { listServing } from '../../store/work/marks.ts'
import { otherDatabase } from '../doctor/checks/processes.ts'
import { isKeyServed, jwtSecrets } from '../signing-keys.ts'
import { withDomains, type OpenDomains } from './domains.ts'
import { COMMAND_LINE, configOf, parseLifetime, type CommandContext, type ConfigOptions } from './context.ts'

const PAGE = 1_000

/** `platform user add` */
export async function addUser(
  context: CommandContext,
  name: string,
  options: ConfigOptions & { readonly role: readonly Role[] },
): Promise<void> {
  const loaded = configOf(context, options)
  requireOwnUsers(loaded)
  const password = await readSecret(context, `Password for ${name}`)
  await withUsers(context, loaded, async ({ change, users }) => {
    const account = await users.prepareAccount({ name, password: password.reveal(), roles: options.role })
    await change('user.add', undefined, (tx) => users.create(tx, account, COMMAND_LINE))
  })
  context.stdout.write(`created the user ${name} with ${options.role.join(', ')}\n`)
}

/** `platform user list` */
export async function printUsers(context: CommandContext, options: ConfigOptions): Promise<void> {
  const accounts = await withUsers(context, configOf(context, options), ({ users }) => listAllUsers(users))
  const rows = accounts.map(({ name, roles, enabled, lastLoginAt }) => {
    const login = lastLoginAt === null ? 'never' : toRfc3339(lastLoginAt)
    return [name, roles.join(',') || 'none', enabled ? 'enabled' : 'disabled', login]
  })
  context.stdout.write(alignColumns([['NAME', 'ROLES', 'STATE', 'LAST LOGIN'], ...rows]))
}

/** All users, oldest first. */
async function listAllUsers(users: Users): Promise<User[]> {
  const newestFirst = await readPages((after) => users.list({ limit: PAGE, after }))
  return newestFirst.toReversed()
}

/** `platform user passwd` */
export async function changePassword(
  context: CommandContext,
  name: string,
  options: ConfigOptions,
): Promise<void> {
  const loaded = configOf(context, options)
  requireOwnUsers(loaded)
  const password = await readSecret(context, `New password for ${name}`)
  const { apiTokens, enabled } = await withUsers(context, loaded, async ({ change, users }) => {
    const { id, enabled: isEnabled } = await users.getByName(name)
    const prepared = await users.preparePassword(id, password.reveal())
    const changed = await change('user.passwd', id, (tx) => users.setPassword(tx, id, prepared, COMMAND_LINE))
    return { ...changed, enabled: isEnabled }
  })
  context.stdout.write(`changed the password of ${name} and revoked the older tokens\n`)
  if (!enabled)
    context.stdout.write(`${name} is disabled, so nobody signs in: platform user enable ${name}\n`)
  if (apiTokens > 0)
    context.stdout.write(
      `${name} has ${formatCount(apiTokens, 'API token')}, not revoked: platform token list ${name}, platform token revoke ${name} ID\n`,
    )
}

/** `platform user disable` and `platform user enable` */
export async function setUserEnabled(
  context: CommandContext,
  name: string,
  enabled: boolean,
  options: ConfigOptions,
): Promise<void> {
  const command = enabled ? 'user.enable' : 'user.disable'
  await withUsers(context, configOf(context, options), async ({ change, users }) => {
    const { id } = await users.getByName(name)
    await change(command, id, (tx) => users.change(tx, id, { enabled }, COMMAND_LINE))
  })
  context.stdout.write(`${enabled ? 'enabled' : 'disabled'} ${name}\n`)
}

/** `platform user role`: replaces the roles. */
export async function setUserRoles(
  context: CommandContext,
  name: string,
  roles: readonly Role[],
  options: ConfigOptions,
): Promise<void> {
  const user = await withUsers(context, configOf(context, options), async ({ change, users }) => {
    const { id } = await users.getByName(name)
    return change('user.role', id, (tx) => users.change(tx, id, { roles }, COMMAND_LINE))
  })
  context.stdout.write(`${user.name} has the roles ${user.roles.join(', ')}\n`)
}

/** `platform user delete` */
export async function removeUser(
  context: CommandContext,
  name: string,
  options: ConfigOptions,
): Promise<void> {
  const user = await withUsers(context, configOf(context, options), async ({ change, users }) => {
    const found = await users.getByName(name)
    await change('user.delete', found.id, (tx) => users.remove(tx, found.id, COMMAND_LINE))
    return found
  })
  context.stdout.write(`deleted ${user.name}\n`)
}

const OTHER_KEY =
  'platform: the platform was last started with another signing key: it refuses this token until it is started again with this configuration.\n'

/** `platform token issue`: prints only the token, so that a script can use the output. */
export async function issueToken(
  context: CommandContext,
  name: string,
  options: ConfigOptions & { readonly ttl?: string; readonly purpose?: TokenPurpose },
): Promise<void> {
  const ttlMs = options.ttl === undefined ? undefined : parseLifetime(options.ttl, tokenLifetime)
  const loaded = configOf(context, options)
  const { token } = await withUsers(context, loaded, async ({ auth, users, store, record }) => {
    const issued = await auth.issueToken(name, ttlMs, options.purpose)
    const { id } = await users.getByName(name)
    const changes = {
      purpose: [null, options.purpose ?? null],
      expires_at: [null, toRfc3339(issued.expiresAt)],
    } as const
    // A standby, and a platform that is read-only, issue tokens and write nothing.
    if (!loaded.config.readOnly)
      await store.write((tx) => record(tx, 'token.issue', { kind: 'user', id }, changes))
    if (!(await isKeyServed(jwtSecrets(loaded.config), store.read))) context.stderr.write(OTHER_KEY)
    return issued
  })
  context.stdout.write(`${token.reveal()}\n`)
}

// One page has them all: at most 100 are valid, the others have ended in the last 30 days.
const TOKENS_OF_USER = 1_000

interface NewTokenOptions extends ConfigOptions {
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
  const loaded = configOf(context, options)
  const { token } = await withUsers(context, loaded, async ({ store, users, apiTokens, record }) => {
    const { id } = await users.getByName(userName)
    const wanted = { name: options.name, expiresInMs, roles: options.role }
    return store.write(async (tx) => {
      const created = await apiTokens.create(tx, id, wanted, COMMAND_LINE_IDENTITY)
      const changes = changesBetween(undefined, await apiTokens.stateOf(tx, created.id))
      await record(tx, 'token.create', { kind: 'user', id }, changes)
      return created
    })
  })
  context.stdout.write(`${token.reveal()}\n`)
}

/** `platform token list`: the tokens of one user, or of all. */
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
  const { items } = await apiTokens.list(owner.id, { limit: TOKENS_OF_USER })
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
  await withUsers(context, configOf(context, options), async ({ store, users, apiTokens, record }) => {
    const user = await users.getByName(userName)
    await store.write(async (tx) => {
      const changes = changesBetween(await apiTokens.stateOf(tx, id), undefined)
      await apiTokens.revoke(tx, user.id, id, COMMAND_LINE)
      await record(tx, 'token.revoke', { kind: 'user', id: user.id }, changes)
    })
  })
  context.stdout.write(`revoked the token ${id} of ${userName}\n`)
}

/** The identity of the command line, which has no token: whoever can read the database may do everything with it. */
const COMMAND_LINE_IDENTITY = {
  id: COMMAND_LINE,
  name: COMMAND_LINE,
  roles: ['admin'],
  via: 'headers',
} as const

/** Throws `users_mirrored` on a standby, before the command asks for a password. */
function requireOwnUsers({ config: { gateway } }: LoadedConfig): void {
  if (gateway.mirrorFrom !== undefined) throw usersMirrored(gateway.mirrorFrom)
}

export interface UsersContext extends Pick<OpenDomains, 'store' | 'record'> {
  readonly users: Users
  readonly auth: Auth
  readonly apiTokens: ApiTokens
  /** Changes a user, and records the change as that of a command; a new one has no id yet. */
  change<T>(command: string, id: string | undefined, work: (tx: Tx) => Promise<T>): Promise<T>
}

type UsersCommand = Pick<CommandContext, 'env'> & Partial<Pick<CommandContext, 'stderr'>>

/** Runs `use` with the users of the configured database; warns if the platform of this host serves another database. */
export async function withUsers<T>(
  context: UsersCommand,
  loaded: LoadedConfig,
  use: (context: UsersContext) => Promise<T>,
): Promise<T> {
  const { config } = loaded
  const signingKeys = () => jwtSecrets(config)
  const useUsers = async ({ store, domains, record }: OpenDomains) => {
    const { service: users, auth, apiTokens } = domains.users
    const change: UsersContext['change'] = (command, id, work) =>
      store.write(async (tx) => {
        const before = id === undefined ? undefined : await users.find(id, tx)
        const result = await work(tx)
        const target = { kind: 'user', id: id ?? idOf(result) }
        const after = target.id === null ? undefined : await users.find(target.id, tx)
        await record(tx, command, target, changesBetween(stateOf(before), stateOf(after)))
        return result
      })
    const result = await use({ store, users, auth, apiTokens, change, record })
    if ((await listServing(store.read, systemClock.now())).length === 0) await warnOfOther(context, config)
    return result
  }
  return withDomains(context, loaded, useUsers, { signingKeys })
}

async function warnOfOther({ stderr }: UsersCommand, config: Config): Promise<void> {
  const other = stderr && (await otherDatabase(config))
  if (other)
    stderr.write(`platform: processes of this database: ${other.detail}. To mend it, ${other.remedy}.\n`)
}

function stateOf(user: User | undefined): object | undefined {
  return user && { name: user.name, roles: user.roles, enabled: user.enabled }
}

function idOf(created: unknown): string | null {
  return typeof created === 'object' && created !== null && 'id' in created ? String(created.id) : null
}

/** Reads a secret from a prompt without echo, or from the first line of standard input; never from an argument. */
async function readSecret({ stdin, stderr }: CommandContext, prompt: string): Promise<Secret> {
  const terminal = stdin.isTTY === true
  if (terminal) stderr.write(`${prompt}: `)
  const lines = createInterface({ input: stdin, output: terminal ? discard() : undefined, terminal })
  try {
    for await (const line of lines) {
      if (terminal) stderr.write('\n')
      return new Secret(line)
    }
  } finally {
    lines.close()
  }
  throw new AppError('invalid', 'validation_failed', `${prompt}: standard input is empty.`)
}

function discard(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() })
}
