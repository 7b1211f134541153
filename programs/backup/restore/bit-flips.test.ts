import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { BACKUP_ID, drillWorld } from '../../../test/support/drill-world.ts'
import { chanceOf, type Chance } from '../../../test/support/random.ts'
import { DryRunDrive } from '../drive/dry-run-drive.ts'
import { bytesSource } from '../drive/sources.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { Drill } from './drill.ts'
import type { DrillCheck } from './drill-report.ts'

// `BIT_FLIPS=1000` for the long form.
const FLIPS = Number(process.env['BIT_FLIPS'] ?? 60)
// The index has the SHA-256 of the whole archive, so any bit shows the same.
const HASHED_FLIPS = 5

function flip(good: Buffer, chance: Chance): Buffer {
  const bytes = Buffer.from(good)
  const at = chance.between(0, bytes.length - 1)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << chance.between(0, 7))
  return bytes
}

describe('a package of which one bit has changed', () => {
  const w = drillWorld()
  after(() => w[Symbol.dispose]())
  let count = 0

  /** The checks of a drill of these bytes. The index names the SHA-256, by default theirs. */
  async function drill(bytes: Buffer, options: { identityFile?: string; sha256?: string } = {}) {
    const { identityFile, sha256 = hash('sha256', bytes) } = options
    const files = join(w.directory, `unpacked-${count++}`)
    mkdirSync(files)
    const drive = new DryRunDrive({ clock: systemClock, print: () => undefined })
    const name = `backup-${BACKUP_ID}.tar.zst${identityFile === undefined ? '' : '.age'}`
    await drive.upload({ folderId: 'folder', name }, bytesSource(bytes))
    const backup = { backupId: BACKUP_ID, file: name, size: bytes.length, sha256, createdAt: 0 }
    const deps = {
      drive,
      databases: w.databases,
      identityFile,
      progress: () => undefined,
      onCheck: () => undefined,
    }
    const workspace = { downloads: w.directory, files, close: () => Promise.resolve() }
    const run = new Drill(deps, { folderId: 'folder', backup, workspace })
    await run.run()
    const content = contentOf(files)
    rmSync(files, { recursive: true })
    rmSync(join(w.directory, name), { force: true })
    return { checks: run.checks, content }
  }

  for (const isSealed of [false, true]) {
    it(`fails archive-hash, and a later check where the index has the new hash (${isSealed ? 'sealed' : 'plain'})`, async (t) => {
      const chance = chanceOf(t)
      const identity = await generateX25519Identity()
      const identityFile = join(w.directory, 'identity')
      writeFileSync(identityFile, identity, { mode: 0o600 })
      const sealed = isSealed ? { identityFile } : {}
      const { file, sha256 } = await w.pack({
        recipients: isSealed ? [await identityToRecipient(identity)] : [],
      })
      const good = readFileSync(file)
      const { checks, content } = await drill(good, sealed)
      assert.equal(checks.length, 11)
      const found = new Map<string, number>()
      for (let round = 0; round < FLIPS; round++) {
        const bytes = flip(good, chance)
        if (round < HASHED_FLIPS) {
          const known = await drill(bytes, { ...sealed, sha256 })
          assert.deepEqual(failed(known.checks), ['archive-hash'])
        }
        const forged = await drill(bytes, sealed)
        const [name = 'none'] = failed(forged.checks)
        found.set(name, (found.get(name) ?? 0) + 1)
        // A few bits of the formats mean nothing, such as unused ones of a frame; then every file is as it was.
        if (name === 'none') assert.deepEqual(forged.content, content)
        if (isSealed) assert.notEqual(name, 'none')
      }
      t.diagnostic(JSON.stringify(Object.fromEntries(found)))
    })
  }
})

const failed = (checks: readonly DrillCheck[]) => checks.filter(({ ok }) => !ok).map(({ name }) => name)

/** Each file with its hash. */
function contentOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => `${path.slice(directory.length)} ${hash('sha256', readFileSync(path))}`)
}
