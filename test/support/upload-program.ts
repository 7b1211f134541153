// Run as a process of its own by test/integration/backup/drive-kill.long.test.ts: uploads an archive and its index, and goes
// on with what an earlier process has left.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { openRemoteDrive } from '../../programs/backup/drive/remote-drive.ts'
import type { UploadState } from '../../programs/backup/drive/port.ts'
import { writeFile, verifyUpload } from '../../programs/backup/drive/stored-files.ts'
import { fileSource } from '../../programs/backup/drive/sources.ts'
import { TokenFile } from '../../programs/backup/drive/token-file.ts'
import { BackupError } from '../../programs/backup/errors.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { Secret } from '../../src/kernel/secret.ts'

const [apiUrl = '', tokenPath = '', archive = '', sha1 = '', statePath = ''] = process.argv.slice(2)

async function uploadArchive(): Promise<void> {
  const drive = openRemoteDrive({
    apiUrl,
    apiPrefix: '/adrive/v1.0',
    secrets: { clientId: 'drive_mock_docvalue_0001', clientSecret: new Secret('drive_secret_docvalue_0001') },
    tokenFile: new TokenFile(tokenPath),
    partSize: 1_000,
    clock: systemClock,
  })
  const resume = existsSync(statePath)
    ? (JSON.parse(readFileSync(statePath, 'utf8')) as UploadState)
    : undefined
  const source = fileSource(archive, { size: statSync(archive).size, sha1 })
  const folderId = await drive.ensureFolder('backup/202601')
  const onState = (state: UploadState) => writeFileSync(statePath, JSON.stringify(state))
  const target = { folderId, name: 'backup-20260131-020000.tar.zst' }
  await verifyUpload(drive, await drive.upload(target, source, { resume, onState }), source)
  await writeFile(drive, { folderId, name: 'MANIFEST.json' }, JSON.stringify({ backups: [{ sha1 }] }))
  drive.close()
}

try {
  await uploadArchive()
} catch (error) {
  process.stdout.write(error instanceof BackupError ? error.errorCode : String(error))
  process.exitCode = 1
}
