import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, errorMessage } from '../../../src/kernel/errors.ts'
import { readDriveSecrets } from '../drive/secrets-file.ts'
import { TokenFile } from '../drive/token-file.ts'
import type { InstallSettings } from './settings.ts'
import type { TargetRoot } from './target-root.ts'

const ZONES = '/usr/share/zoneinfo'

/** Throws one error with everything that would make each night fail. Nothing may be written before. */
export function requirePrerequisites(settings: InstallSettings, root: TargetRoot): void {
  const checks = [
    () => void new TokenFile(existingFile(settings.tokenFile, root)).read(),
    () => void readDriveSecrets(existingFile(settings.secretsFile, root)),
    () => requireZone(settings.timeZone, root),
  ]
  const problems = checks.flatMap(problemOf)
  if (problems.length > 0) throw new AppError('invalid', 'backup_not_ready', problems.join('\n'))
}

/** The file of the image; if the image does not have it yet, the file of this host. */
function existingFile(path: string, root: TargetRoot): string {
  const located = root.locate(path)
  return existsSync(located) ? located : path
}

/** systemd never starts a timer whose zone it does not know. Some names are in the package tzdata-legacy only. */
function requireZone(timeZone: string, root: TargetRoot): void {
  const zones = root.locate(ZONES)
  const unknown = root.isHost || existsSync(zones)
  if (timeZone === 'UTC' || !unknown || existsSync(join(zones, timeZone))) return
  throw new Error(
    `backup.time_zone: systemd does not know ${timeZone}, which is not in ${zones}; install tzdata or tzdata-legacy, or name another zone`,
  )
}

function problemOf(check: () => void): string[] {
  try {
    check()
    return []
  } catch (error) {
    return [errorMessage(error)]
  }
}
