import type { AnswerOf } from '../../../api/operations.ts'
import { resourceOf } from '../sources.ts'

export type Settings = AnswerOf<'getConfig'>
export type Setting = Settings['items'][number]

/** The settings of the api. They change with a restart only, and no event reports that. */
export const settingsResource = resourceOf('getConfig', 'config.', () => ({}), {
  isAbout: () => false,
})

export function isDefault({ source }: Setting): boolean {
  return source === 'default'
}
