import { statSync } from 'node:fs'
import { otherServersIn, recognitionOf, RECOGNITION_REMEDY } from '../../../../programs/backup/index.ts'
import type { Config } from '../../../config/config.ts'
import { systemClock } from '../../../kernel/clock.ts'
import { fault, fine, skipped, warning, type Check, type CheckFinding } from '../check.ts'
import { documentPath } from '../document-path.ts'

const GROUP_OR_OTHERS = 0o077

/** The files of the nightly routine, where it is configured. */
export const backupCheck: Check = {
  name: 'backup',
  run: async ({ loaded: { config } }) =>
    config.backup.drive.apiUrl === undefined
      ? [skipped('backup.drive.api_url', 'is not set: there is no nightly routine')]
      : [
          ...filesOf(config).map(([setting, path]) => privateFile(setting, path)),
          ...sharedFolder(otherServersIn(config)),
          await recognition(config),
        ],
}

function filesOf({ backup: { drive, standby, encryption } }: Config): [setting: string, path: string][] {
  const files: [string, string | undefined][] = [
    ['backup.drive.token_file', drive.tokenFile],
    ['backup.drive.secrets_file', drive.secretsFile],
    ['backup.standby.token_file', standby.tokenFile],
    ['backup.encryption.identity_file', encryption.identityFile],
  ]
  return files.flatMap(([setting, path]) => (path === undefined ? [] : [[setting, path]]))
}

/** The alerts of a night wait in its outbox for ever when the platform does not know who sends them. */
async function recognition(config: Config): Promise<CheckFinding> {
  const subject = `backup.platform_api ${config.backup.platformApi}`
  const answer = await recognitionOf(config, systemClock)
  if (answer.outcome === 'recognised') return fine(subject, 'takes the alerts of the routine')
  return answer.outcome === 'refused'
    ? fault(subject, `${answer.reason}, so it gets no alerts of the night`, RECOGNITION_REMEDY)
    : warning(subject, answer.reason, 'start the platform, or change backup.platform_api')
}

function sharedFolder(others: readonly string[]): CheckFinding[] {
  if (others.length === 0) return []
  const detail = `has backups of other servers: ${others.join(', ')}`
  return [
    warning('root_dir of the drive', detail, 'give each server a root_dir of its own in its token file'),
  ]
}

function privateFile(setting: string, path: string): CheckFinding {
  const stats = statSync(path, { throwIfNoEntry: false })
  const subject = `${setting} ${path}`
  if (!stats) return fault(subject, 'does not exist', `see ${documentPath('docs/guide/nightly.md')}`)
  const mode = stats.mode & 0o777
  if ((mode & GROUP_OR_OTHERS) === 0) return fine(subject, `mode ${mode.toString(8)}`)
  return fault(subject, `mode ${mode.toString(8)}: the routine refuses it`, `run: chmod 600 ${path}`)
}
