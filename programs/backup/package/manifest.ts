import { parseRfc3339 } from '../../../src/kernel/time.ts'
import type { TableContents } from '../../../src/ports/database-files.ts'
import type { LeftOut } from './left-out.ts'

export const MANIFEST_NAME = 'MANIFEST.json'

/** A file of a package. */
export interface PackagedFile {
  /** Relative, with slashes. */
  readonly path: string
  readonly size: number
  /** SHA-256 in hexadecimal digits. */
  readonly sha256: string
}

/** `MANIFEST.json` of a package (docs/specification.md, Backup package). */
export interface PackageManifest {
  readonly format: 1
  readonly backup_id: string
  readonly created_at: string
  /** Path of the database. */
  readonly source_path: string
  /** Size of the database file in the package. */
  readonly size: number
  readonly sha256: string
  readonly servers: readonly string[]
  readonly schema_version: string
  readonly tables: Readonly<Record<string, TableContents>>
  readonly files: readonly PackagedFile[]
  /** The newest seal of the audit trail that this host has made. Missing before the first one. */
  readonly audit_seal?: string
  /** Missing when nothing was left out. */
  readonly left_out?: LeftOut
}

export function encodeManifest(manifest: PackageManifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`
}

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0
const isSha256: Check = (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)
const isObjectOf =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(checks).every(([name, check]) => check((value as Record<string, unknown>)[name]))

const CHECKS: Readonly<Record<keyof PackageManifest, Check>> = {
  format: (value) => value === 1,
  backup_id: (value) => typeof value === 'string' && /^\d{8}-\d{6}$/.test(value),
  created_at: (value) => typeof value === 'string' && parseRfc3339(value) !== undefined,
  source_path: isText,
  size: isCount,
  sha256: isSha256,
  servers: isListOf(isText),
  schema_version: isText,
  tables: (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every(isObjectOf({ rows: isCount, hash: isText })),
  files: isListOf(isObjectOf({ path: isText, size: isCount, sha256: isSha256 })),
  audit_seal: (value) => value === undefined || isText(value),
  left_out: (value) =>
    value === undefined ||
    isObjectOf({
      count: isCount,
      files: isListOf(isObjectOf({ path: isText, reason: isText })),
      missing_roots: isListOf(isText),
    })(value),
}

/** Throws an error that names the first member that is wrong. */
export function parseManifest(text: string): PackageManifest {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error('it is not valid JSON', { cause: error })
  }
  const wrong = wrongMember(value)
  if (wrong !== undefined) throw new Error(`its member "${wrong}" is missing or wrong`)
  return value as PackageManifest
}

function wrongMember(value: unknown): string | undefined {
  const members = Object(value) as Readonly<Record<string, unknown>>
  return Object.entries(CHECKS).find(([name, check]) => !check(members[name]))?.[0]
}
