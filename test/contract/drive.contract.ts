import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Drive } from '../../programs/backup/drive/port.ts'
import { readFile, writeFile, verifyUpload } from '../../programs/backup/drive/stored-files.ts'
import { bytesSource } from '../../programs/backup/drive/sources.ts'
import { readAll } from '../support/drive-world.ts'

export interface DriveUnderTest extends AsyncDisposable {
  /** Takes parts of 1,000 bytes. */
  readonly drive: Drive
}

/** What every implementation of the port `Drive` does. */
export function driveContract(name: string, open: () => Promise<DriveUnderTest>): void {
  describe(`the drive of ${name}`, () => {
    it('creates a folder with its parents once, and finds it', async () => {
      await using w = await open()
      assert.equal(await w.drive.findFolder('servers/main/backup'), undefined)
      const folder = await w.drive.ensureFolder('servers/main/backup')
      assert.equal(await w.drive.ensureFolder('/servers/main/backup/'), folder)
      assert.equal(await w.drive.findFolder('servers/main/backup'), folder)
    })

    for (const size of [0, 1, 999, 1_000, 1_001, 5_300]) {
      it(`stores and returns ${size} bytes, whole and in ranges`, async () => {
        await using w = await open()
        const folderId = await w.drive.ensureFolder('a')
        const content = randomBytes(size)
        const source = bytesSource(content)
        const file = await w.drive.upload({ folderId, name: 'x' }, source)
        assert.deepEqual([file.name, file.size, file.sha1], ['x', size, source.sha1])
        assert.deepEqual(await w.drive.stat(file.fileId), file)
        assert.deepEqual(await readAll(w.drive.download(file)), content)
        const range = { start: Math.floor(size / 3), end: size }
        assert.deepEqual(await readAll(w.drive.download(file, range)), content.subarray(range.start))
        await verifyUpload(w.drive, file, source)
      })
    }

    it('lists the files of a folder, oldest first, without folders', async () => {
      await using w = await open()
      const folderId = await w.drive.ensureFolder('a')
      await w.drive.ensureFolder('a/b')
      assert.deepEqual(await w.drive.list(folderId), [])
      const names = ['z', 'y', 'x']
      for (const name of names) await w.drive.upload({ folderId, name }, bytesSource(name))
      const listed = (await w.drive.list(folderId)).map((file) => file.name)
      assert.deepEqual(listed.toSorted(), names.toSorted())
    })

    it('keeps a file with the same name, and sends nothing that stands already', async () => {
      await using w = await open()
      const folderId = await w.drive.ensureFolder('a')
      const first = await w.drive.upload({ folderId, name: 'x' }, bytesSource('one'))
      const again = await w.drive.upload({ folderId, name: 'x' }, bytesSource('one'))
      assert.equal(again.fileId, first.fileId)
      const second = await w.drive.upload({ folderId, name: 'x' }, bytesSource('two'))
      assert.deepEqual(await w.drive.list(folderId), [first, second])
      assert.equal((await readAll(w.drive.download(second))).toString(), 'two')
    })

    it('stores the same content under two names', async () => {
      await using w = await open()
      const folderId = await w.drive.ensureFolder('a')
      const source = bytesSource(randomBytes(2_500))
      const files = [
        await w.drive.upload({ folderId, name: 'x' }, source),
        await w.drive.upload({ folderId, name: 'y' }, source),
      ]
      assert.notEqual(files[0]?.fileId, files[1]?.fileId)
      assert.equal((await w.drive.list(folderId)).length, 2)
    })

    it('deletes a file, and does not mind when it is gone', async () => {
      await using w = await open()
      const folderId = await w.drive.ensureFolder('a')
      const { fileId } = await w.drive.upload({ folderId, name: 'x' }, bytesSource('one'))
      await w.drive.delete(fileId)
      await w.drive.delete(fileId)
      assert.equal(await w.drive.stat(fileId), undefined)
      assert.deepEqual(await w.drive.list(folderId), [])
    })

    it('writes and reads small files', async () => {
      await using w = await open()
      const target = { folderId: await w.drive.ensureFolder('a'), name: 'MANIFEST.json' }
      const file = await writeFile(w.drive, target, '{"a":1}')
      assert.equal(await readFile(w.drive, file, 1_000), '{"a":1}')
      await assert.rejects(readFile(w.drive, file, 3), { errorCode: 'drive_rejected' })
    })

    it('refuses to verify another size, another hash and a file that is gone', async () => {
      await using w = await open()
      const folderId = await w.drive.ensureFolder('a')
      const source = bytesSource('one')
      const file = await w.drive.upload({ folderId, name: 'x' }, source)
      const mismatch = { errorCode: 'verify_mismatch' }
      await assert.rejects(verifyUpload(w.drive, file, { ...source, size: 4 }), mismatch)
      await assert.rejects(verifyUpload(w.drive, file, { ...source, sha1: '0'.repeat(40) }), mismatch)
      await w.drive.delete(file.fileId)
      await assert.rejects(verifyUpload(w.drive, file, source), mismatch)
    })

    it('names the free space', async () => {
      await using w = await open()
      assert.ok((await w.drive.freeBytes()) > 1_000_000)
    })
  })
}
