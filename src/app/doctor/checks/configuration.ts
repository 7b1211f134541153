import { statSync } from 'node:fs'
import { SETTING_TABLE } from '../../../config/schema.ts'
import type { EffectiveSetting, LoadedConfig } from '../../../config/config.ts'
import { fine, warning, type Check, type CheckFinding } from '../check.ts'
import { examineUnitEnvironment } from '../unit-environment.ts'

/** The configuration itself was checked when it was loaded: an error in it ends the doctor before its checks. */
export const configurationCheck: Check = {
  name: 'configuration',
  run: async ({ loaded, env }) => [
    summary(loaded),
    ...privacyOf(loaded),
    ...(loaded.file === undefined ? [] : examineUnitEnvironment(loaded.file, env)),
  ],
}

function summary({ config, file, settings }: LoadedConfig): CheckFinding {
  const changed = settings.filter(({ source }) => source !== 'default').length
  return fine(
    file ?? 'defaults',
    `modules ${config.modules.join(', ')}; ${changed} settings are not the default`,
  )
}

/** A file with secrets is for its owner, and perhaps a group, alone. */
function privacyOf({ config, file, settings }: LoadedConfig): CheckFinding[] {
  const secrets = settings.filter((setting) => isSecret(setting) && setting.source.startsWith('file '))
  if (file === undefined || secrets.length === 0) return []
  const mode = statSync(file).mode & 0o777
  if ((mode & 0o007) === 0) return []
  const keys = secrets.map(({ key }) => key).join(', ')
  // The service reads the file as a member of the group of its data.
  const group = statSync(config.dataDir, { throwIfNoEntry: false })?.gid
  const remedy = `${group === undefined ? '' : `chgrp ${group} ${file} && `}chmod u=rw,g=r,o= ${file}`
  return [warning(file, `mode ${mode.toString(8)}: every user can read ${keys}`, `run: ${remedy}`)]
}

function isSecret({ key }: EffectiveSetting): boolean {
  return Object.entries(SETTING_TABLE).some(([name, { secret }]) => name === key && secret === true)
}
