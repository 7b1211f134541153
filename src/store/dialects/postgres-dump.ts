import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Secret } from '../../kernel/secret.ts'

const ERROR_LENGTH = 1_000

/** Dumps the database with `pg_dump`, in its custom format, for `pg_restore`; consistent as of its start. */
export async function dumpPostgres(url: Secret, path: string, signal?: AbortSignal): Promise<void> {
  const { address, password } = withoutPassword(url)
  const child = spawn(
    'pg_dump',
    ['--format=custom', '--no-password', `--file=${path}`, `--dbname=${address}`],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      // oxlint-disable-next-line node/no-process-env -- PATH leads to pg_dump, and a command line is public
      env: { ...process.env, ...(password !== undefined && { PGPASSWORD: password }) },
      ...(signal && { signal }),
    },
  )
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`pg_dump ended with ${code}: ${errors.trim().slice(0, ERROR_LENGTH)}`)
}

function withoutPassword(secret: Secret): { address: string; password: string | undefined } {
  const url = new URL(secret.reveal())
  const password = url.searchParams.get('password') ?? decodeURIComponent(url.password)
  url.searchParams.delete('password')
  url.password = ''
  return { address: url.href, password: password === '' ? undefined : password }
}
