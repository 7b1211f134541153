import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { CertificateFiles } from '../../ports/certificate-files.ts'
import { errorCode } from '../../kernel/errors.ts'

const FINGERPRINT = /^[0-9a-f]{64}$/

/**
 * Certificate files in a directory, for its owner only. An interrupted write leaves a file whose name begins with that of
 * the certificate's file.
 */
export class CertificateDirectory implements CertificateFiles {
  readonly #path: string

  /** Creates the directory at the first write. */
  constructor(path: string) {
    this.#path = path
  }

  nameOf(fingerprint: string): string {
    // A fingerprint is never text of a client; this keeps it so.
    if (!FINGERPRINT.test(fingerprint)) throw new Error('the name of a certificate file is a SHA-256 in hex')
    return `${fingerprint}.pem`
  }

  async write(fingerprint: string, pem: string): Promise<void> {
    const path = join(this.#path, this.nameOf(fingerprint))
    const isNew = await mkdir(this.#path, { recursive: true, mode: 0o700 })
    if (isNew !== undefined) await syncDirectory(dirname(this.#path))
    const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
    try {
      await writeNewFile(temporary, pem)
      await rename(temporary, path)
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined)
      throw error
    }
    // Until then a power failure may undo the rename.
    await syncDirectory(this.#path)
  }

  async read(fingerprint: string): Promise<string | undefined> {
    return unlessMissing(readFile(join(this.#path, this.nameOf(fingerprint)), 'utf8'))
  }

  async list(): Promise<readonly string[]> {
    const entries = (await unlessMissing(readdir(this.#path, { withFileTypes: true }))) ?? []
    return entries
      .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
      .map(({ name }) => name)
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#path, basename(name)), { force: true })
  }
}

async function writeNewFile(path: string, text: string): Promise<void> {
  await using file = await open(path, 'wx', 0o600)
  // The umask may have taken permissions of the owner.
  await file.chmod(0o600)
  await file.writeFile(text)
  await file.sync()
}

async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r')
  await directory.sync()
}

/** Undefined when the file or the directory does not exist. */
async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
