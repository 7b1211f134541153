import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { runPlatform, servePlatform, temporaryDirectory, type CommandResult } from './platform.ts'
import { createTestDatabase } from './postgres.ts'
import { scopeOf } from './scope.ts'

export const PASSWORD = 'correct horse battery'

export type Environment = Readonly<Record<string, string>>

/** A directory that is also the data directory, and the commands that run in it. */
export function commandWorld(t: TestContext, env: Environment = {}) {
  const scope = scopeOf(t)
  const dataDir = scope.use(temporaryDirectory()).path
  return {
    dataDir,
    database: join(dataDir, 'platform.db'),
    files: () => readdirSync(dataDir).sort(),
    run: (args: readonly string[], more: { env?: Environment; input?: string } = {}) =>
      runPlatform(args, { dataDir, ...more, env: { LISTEN_ADDR: '127.0.0.1:0', ...env, ...more.env } }),
    async serve(more: Environment = {}, modules = 'all') {
      const served = await servePlatform({ dataDir, modules, env: { ...env, ...more } })
      return scope.use(served)
    },
  }
}

/** The same with a database. */
export async function worldWithDatabase(t: TestContext): Promise<ReturnType<typeof commandWorld>> {
  const made = commandWorld(t)
  assertSuccess(await made.run(['db', 'migrate']))
  return made
}

export async function postgresUrl(t: TestContext): Promise<string> {
  const { url, drop } = await createTestDatabase()
  t.after(drop)
  return url
}

/** Asserts that the command ended with 0 and printed no error; returns what it printed. */
export function assertSuccess({ code, stdout, stderr }: CommandResult): string {
  assert.equal(code, 0, `${stdout}\n${stderr}`)
  assert.equal(stderr, '')
  return stdout
}

/** Asserts that the command ended with this code and one line that gives the reason. */
export function assertRefusal({ code, stderr }: CommandResult, expectedCode: 1 | 2, reason: RegExp): void {
  assert.equal(code, expectedCode, stderr)
  assert.match(stderr, reason)
  assert.match(stderr, /^[^\n]+\n$/, 'one line')
}

export function onSqlite(path: string, statement: string): void {
  const database = new DatabaseSync(path)
  database.exec(statement)
  database.close()
}
