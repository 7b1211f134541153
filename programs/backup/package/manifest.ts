import type { TableContents } from '../../../src/ports/database-files.ts'
import {
  isBackupIdText,
  isCount,
  isSha256,
  isText,
  isTimeText,
  listOf,
  objectOf,
  optional,
  parseChecked,
  valuesOf,
  type ShapeCheck,
} from '../shape-checks.ts'
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

const CHECKS: Readonly<Record<keyof PackageManifest, ShapeCheck>> = {
  format: (value) => value === 1,
  backup_id: isBackupIdText,
  created_at: isTimeText,
  source_path: isText,
  size: isCount,
  sha256: isSha256,
  servers: listOf(isText),
  schema_version: isText,
  tables: valuesOf(objectOf({ rows: isCount, hash: isText })),
  files: listOf(objectOf({ path: isText, size: isCount, sha256: isSha256 })),
  audit_seal: optional(isText),
  left_out: optional(
    objectOf({
      count: isCount,
      files: listOf(objectOf({ path: isText, reason: isText })),
      missing_roots: listOf(isText),
    }),
  ),
}

/** Throws an error that names the first member that is wrong. */
export function parseManifest(text: string): PackageManifest {
  return parseChecked<PackageManifest>(text, CHECKS)
}
