import { statSync } from 'node:fs'
import { ConfigError, type Problem } from '../../../src/config/config-error.ts'
import type { LoadedConfig } from '../../../src/config/config.ts'
import { shellWord } from '../../../src/kernel/text.ts'

const READABLE_BY_OTHERS = 0o077

/** Throws a {@link ConfigError} unless the settings name a drive, and its files are private. Nothing is touched before. */
export function requireDriveSettings(loaded: LoadedConfig): void {
  const { drive } = loaded.config.backup
  const problems = [
    ...(drive.apiUrl === undefined
      ? [problemOf(loaded, 'backup.drive.api_url', 'the address of the cloud drive')]
      : []),
    ...filesOpenToOthers(loaded),
  ]
  if (problems.length > 0) throw new ConfigError(problems)
}

/** The files of the drive that others than their owner can read. */
export function filesOpenToOthers(loaded: LoadedConfig): Problem[] {
  const { drive } = loaded.config.backup
  return [
    ...fileOpenToOthers(loaded, 'backup.drive.token_file', drive.tokenFile),
    ...fileOpenToOthers(loaded, 'backup.drive.secrets_file', drive.secretsFile),
  ]
}

/** Throws a {@link ConfigError} for an identity file that others can read. */
export function requirePrivateIdentity(loaded: LoadedConfig): void {
  const { identityFile } = loaded.config.backup.encryption
  const key = 'backup.encryption.identity_file'
  const problems = identityFile === undefined ? [] : fileOpenToOthers(loaded, key, identityFile)
  if (problems.length > 0) throw new ConfigError(problems)
}

/** A missing file is no problem of the configuration: a run reports it as `token_unreadable`. */
function fileOpenToOthers(loaded: LoadedConfig, key: string, path: string): Problem[] {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
  if ((mode & READABLE_BY_OTHERS) === 0) return []
  const expected = `a file that only its owner can read (chmod 600 ${shellWord(path)})`
  return [problemOf(loaded, key, expected, `mode ${(mode & 0o777).toString(8)}`)]
}

function problemOf({ settings }: LoadedConfig, key: string, expected: string, got?: string): Problem {
  const source = settings.find((setting) => setting.key === key)?.source ?? 'default'
  return { source, key, expected, got }
}
