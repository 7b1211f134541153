import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeTokenFile } from './drive-world.ts'
import { DRIVE_CLIENT_ID, DRIVE_CLIENT_SECRET } from './mock-drive.ts'

/** The programs of the cleaning that a test replaces. */
export const CLEANERS = ['apt-get', 'docker', 'podman', 'journalctl']

/** The files of a server that `platform backup` needs, below a new directory. */
export interface NightFiles {
  /** The root of the server. */
  readonly root: string
  readonly tokenFile: string
  readonly secretsFile: string
  /** What tells the program of them and of the drive. Its programs for cleaning do nothing, and there is no reboot. */
  readonly env: Readonly<Record<string, string>>
}

export function writeNightFiles(directory: string, driveUrl: string): NightFiles {
  const root = join(directory, 'server')
  const [tokenFile, secretsFile] = [join(root, 'certs/backend/drive-token.json'), join(root, 'backup.env')]
  mkdirSync(join(root, 'certs/backend'), { recursive: true })
  mkdirSync(join(root, 'logs/web'), { recursive: true })
  writeFileSync(join(root, 'logs/web/access.log'), 'GET /health\n')
  writeTokenFile(tokenFile)
  const secrets = { DRIVE_CLIENT_ID, DRIVE_CLIENT_SECRET }
  const lines = Object.entries(secrets).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(secretsFile, lines.join(''), { mode: 0o600 })
  const env = {
    BACKUP_INSTALL_ROOT: root,
    BACKUP_DRIVE_API_URL: driveUrl,
    BACKUP_DRIVE_SECRETS_FILE: secretsFile,
    BACKUP_REBOOT: 'false',
    BACKUP_CLEAN: 'packages,containers',
    PATH: makeIdlePrograms(join(directory, 'programs')),
  }
  return { root, tokenFile, secretsFile, env }
}

/** A directory of programs that do nothing. */
function makeIdlePrograms(directory: string): string {
  mkdirSync(directory)
  for (const name of CLEANERS) writeFileSync(join(directory, name), '#!/bin/sh\n', { mode: 0o755 })
  return directory
}
