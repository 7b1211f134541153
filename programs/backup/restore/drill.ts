import { createHash } from 'node:crypto'
import { open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorMessage } from '../../../src/kernel/errors.ts'
import type { DatabaseFiles } from '../../../src/ports/database-files.ts'
import type { Drive, DriveFile } from '../drive/port.ts'
import { isNoSpace } from '../errors.ts'
import { transientChunks } from '../package/file-chunks.ts'
import { readIdentities } from '../package/identity-file.ts'
import { leftOutText } from '../package/left-out.ts'
import { encodeManifest, MANIFEST_NAME, type PackageManifest } from '../package/manifest.ts'
import { PACKAGE_CHECKS, PackageError, unpackPackage } from '../package/read-package.ts'
import { DATABASE_CHECKS } from './database-checks.ts'
import type { DrillCheck, DrillCheckName } from './drill-report.ts'
import type { IndexedBackup } from './month-index.ts'
import { countText, sizeText } from './words.ts'
import { requireSpaceFor, type Workspace } from './workspace.ts'

export interface DrillDeps {
  readonly drive: Drive
  readonly databases: Pick<DatabaseFiles, 'restoredDatabase'>
  /** The file with the keys that open sealed packages. */
  readonly identityFile: string | undefined
  /** Takes what is being done now. */
  readonly progress: (text: string) => void
  /** Takes each check when it has ended. */
  readonly onCheck: (check: DrillCheck) => void
  readonly signal?: AbortSignal | undefined
}

export interface DrillSubject {
  readonly folderId: string
  readonly backup: IndexedBackup
  readonly workspace: Workspace
}

/** The restoration of one backup, check by check, up to the first that fails. */
export class Drill {
  readonly #deps: DrillDeps
  readonly #subject: DrillSubject
  readonly #checks: DrillCheck[] = []
  #manifest: PackageManifest | undefined

  constructor(deps: DrillDeps, subject: DrillSubject) {
    this.#deps = deps
    this.#subject = subject
  }

  get checks(): readonly DrillCheck[] {
    return this.#checks
  }

  /** The manifest, as soon as it is known. */
  get manifest(): PackageManifest | undefined {
    return this.#manifest
  }

  /** Whether every check has passed. Rejects only when the drill is interrupted. */
  async run(): Promise<boolean> {
    try {
      await this.#restore()
      return true
    } catch (error) {
      this.#deps.signal?.throwIfAborted()
      if (error instanceof CheckFailed) return false
      throw error
    }
  }

  async #restore(): Promise<void> {
    const identities = await this.#check('decrypts', () => this.#identities())
    await this.#pass('archive-hash', () => this.#fetch())
    const manifest = await this.#unpack(identities)
    await this.#checkDatabase(manifest)
    await this.#pass('logs-readable', () => readRestoredLogs(this.#subject.workspace.files, manifest))
  }

  get #archive(): string {
    const { backup, workspace } = this.#subject
    return join(workspace.downloads, backup.file)
  }

  /** Called before the download, which would be useless without the identities. */
  async #identities(): Promise<readonly string[]> {
    const { identityFile } = this.#deps
    if (!this.#subject.backup.file.endsWith('.age')) return []
    if (identityFile === undefined)
      throw new Error(
        'the package is sealed: set backup.encryption.identity_file to the file of the age identity',
      )
    return readIdentities(identityFile)
  }

  async #fetch(): Promise<string> {
    const { drive, progress, signal } = this.#deps
    const { folderId, backup, workspace } = this.#subject
    await requireSpaceFor(workspace.downloads, backup.size, 'the archive')
    return fetchArchive({ drive, folderId, backup, target: this.#archive, progress, signal })
  }

  async #unpack(identities: readonly string[]): Promise<PackageManifest> {
    this.#deps.progress('unpacking')
    try {
      const manifest = await this.#unpackFiles(identities)
      this.#manifest = manifest
      for (const name of PACKAGE_CHECKS)
        this.#add({ name, ok: true, detail: this.#packageDetail(name, manifest) })
      return manifest
    } catch (error) {
      this.#deps.signal?.throwIfAborted()
      const name = error instanceof PackageError ? error.check : 'unpacks'
      const earlier = PACKAGE_CHECKS.slice(0, PACKAGE_CHECKS.indexOf(name))
      for (const each of earlier)
        this.#add({ name: each, ok: true, detail: 'no error up to the failed check' })
      throw this.#fail(name, error)
    }
  }

  async #unpackFiles(identities: readonly string[]): Promise<PackageManifest> {
    const { workspace, backup } = this.#subject
    const manifest = await unpackPackage({
      file: this.#archive,
      directory: workspace.files,
      identities,
      signal: this.#deps.signal,
      onManifest: (found) => this.#requireFitting(found),
    })
    await rm(this.#archive)
    await writeFile(join(workspace.files, MANIFEST_NAME), encodeManifest(manifest), {
      mode: 0o600,
      flag: 'wx',
    })
    this.#deps.progress(`unpacked ${backup.file}`)
    return manifest
  }

  /** Called before a file of the package is written. */
  async #requireFitting(manifest: PackageManifest): Promise<void> {
    const { backup, workspace } = this.#subject
    if (manifest.backup_id !== backup.backupId)
      throw new PackageError('manifest', `the manifest is of the backup ${manifest.backup_id}`)
    databaseIn(manifest)
    const bytes = manifest.files.reduce((sum, { size }) => sum + size, 0)
    await requireSpaceFor(workspace.files, bytes, 'the unpacked package')
  }

  #packageDetail(
    name: (typeof PACKAGE_CHECKS)[number],
    { files, servers, schema_version: schema, tables }: PackageManifest,
  ): string {
    const bytes = files.reduce((sum, { size }) => sum + size, 0)
    const details = {
      decrypts: this.#subject.backup.file.endsWith('.age')
        ? 'an identity opened the package'
        : 'the package is not sealed',
      unpacks: `${sizeText(bytes)} in ${countText(files.length, 'file')}`,
      manifest: `format 1, schema ${schema}, servers ${servers.join(', ')}`,
      files: `every file has the size and the SHA-256 of the manifest; ${certificatesText(files, tables)}`,
    }
    return details[name]
  }

  async #checkDatabase(manifest: PackageManifest): Promise<void> {
    const file = join(this.#subject.workspace.files, databaseIn(manifest))
    const database = this.#deps.databases.restoredDatabase(file, { signal: this.#deps.signal })
    for (const [name, check] of DATABASE_CHECKS)
      await this.#pass(name, async () => (await check(database, manifest)).detail)
  }

  /** Adds a check, with the detail that the step returns. */
  async #pass(name: DrillCheckName, step: () => Promise<string>): Promise<void> {
    this.#deps.progress(`checking ${name}`)
    const detail = await this.#check(name, step)
    this.#add({ name, ok: true, detail })
  }

  async #check<T>(name: DrillCheckName, step: () => Promise<T>): Promise<T> {
    this.#deps.signal?.throwIfAborted()
    try {
      return await step()
    } catch (error) {
      this.#deps.signal?.throwIfAborted()
      throw this.#fail(name, error)
    }
  }

  /** Paths inside of the workspace are named as in the package. */
  #fail(name: DrillCheckName, error: unknown): CheckFailed {
    const reason = isNoSpace(error) ? `no_space: ${errorMessage(error)}` : errorMessage(error)
    const detail = reason.replaceAll(`${this.#subject.workspace.files}/`, '')
    this.#add({ name, ok: false, detail })
    return new CheckFailed(name, { cause: error })
  }

  #add(check: DrillCheck): void {
    this.#checks.push(check)
    this.#deps.onCheck(check)
  }
}

class CheckFailed extends Error {
  override readonly name = 'CheckFailed'
}

/** A certificate without its file raises an alert at the restored server. */
function certificatesText(
  files: PackageManifest['files'],
  { certificates }: PackageManifest['tables'],
): string {
  const found = files.filter(({ path }) => path.startsWith('certs/')).length
  const registered = certificates?.rows ?? 0
  return found < registered
    ? `only ${found} of ${countText(registered, 'certificate')} have their files`
    : `with ${countText(found, 'file')} of certificates`
}

/** The path of the database in a package. */
function databaseIn({ files, size, sha256 }: PackageManifest): string {
  const [database, ...others] = files.filter(({ path }) => path.startsWith('database/'))
  if (!database || others.length > 0)
    throw new PackageError('manifest', 'the manifest does not name exactly one database')
  if (database.size !== size || database.sha256 !== sha256)
    throw new PackageError('manifest', 'the manifest has two sizes or hashes of the database')
  return database.path
}

const NEWLINE = 0x0a

/** Reads every log of an unpacked package to its end. */
async function readRestoredLogs(
  directory: string,
  { files, left_out: leftOut }: PackageManifest,
): Promise<string> {
  const logs = files.filter(({ path }) => path.startsWith('logs/') || path === 'journal.export')
  let [bytes, lines] = [0, 0]
  for (const { path } of logs) {
    for await (const chunk of transientChunks(join(directory, path))) {
      bytes += chunk.length
      lines += countOf(chunk, NEWLINE)
    }
  }
  const found =
    logs.length === 0
      ? 'the package has no logs'
      : [countText(logs.length, 'file'), sizeText(bytes), countText(lines, 'line')].join(', ')
  return leftOut ? `${found}; ${leftOutText(leftOut)}` : found
}

function countOf(bytes: Uint8Array, byte: number): number {
  let count = 0
  for (let at = bytes.indexOf(byte); at >= 0; at = bytes.indexOf(byte, at + 1)) count++
  return count
}

interface FetchRequest {
  readonly drive: Drive
  readonly folderId: string
  readonly backup: IndexedBackup
  /** Where the archive is written; no file may be there. */
  readonly target: string
  readonly progress: (text: string) => void
  readonly signal?: AbortSignal | undefined
}

/** Downloads an archive and compares it with the index, if that names it. A lost connection is continued by the drive's client. */
async function fetchArchive(request: FetchRequest): Promise<string> {
  const { backup, target } = request
  const file = await findArchive(request)
  const { size, sha256 } = await writeArchiveTo(target, file, request)
  if (size !== backup.size)
    throw new Error(`${backup.file} has ${countText(size)} bytes, and ${countText(backup.size)} in the index`)
  if (backup.sha256 === undefined)
    return `${countText(size)} bytes with the SHA-256 ${sha256}; no index names the archive, so only the hashes inside of it are compared`
  if (sha256 !== backup.sha256)
    throw new Error(`${backup.file} has the SHA-256 ${sha256}, and ${backup.sha256} in the index`)
  return `${countText(size)} bytes with the SHA-256 of the index, ${sha256}`
}

/** Finds the archive by its name and size: a repeated upload may have left another file of that name. */
async function findArchive({ drive, folderId, backup }: FetchRequest): Promise<DriveFile> {
  const namesakes = (await drive.list(folderId)).filter(({ name }) => name === backup.file)
  const file = namesakes.find(({ size }) => size === backup.size) ?? namesakes[0]
  if (file) return file
  throw new Error(`${backup.file} is in the index, but not on the drive`)
}

async function writeArchiveTo(
  target: string,
  file: DriveFile,
  { drive, progress, signal }: FetchRequest,
): Promise<{ readonly size: number; readonly sha256: string }> {
  const hash = createHash('sha256')
  let [size, percent] = [0, -1]
  await using archive = await open(target, 'wx', 0o600)
  for await (const chunk of drive.download(file)) {
    signal?.throwIfAborted()
    const written = archive.writeFile(chunk)
    hash.update(chunk)
    size += chunk.length
    await written
    const reached = Math.floor((size / file.size) * 100)
    if (reached === percent) continue
    percent = reached
    progress(`downloading ${file.name}: ${percent} % of ${sizeText(file.size)}`)
  }
  return { size, sha256: hash.digest('hex') }
}
