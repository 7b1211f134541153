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

export interface SettingFilter {
  readonly text: string
  readonly isChangedOnly: boolean
}

/** The settings whose key, value or description contains each word of the text. */
export function matchSettings(
  items: readonly Setting[],
  { text, isChangedOnly }: SettingFilter,
): readonly Setting[] {
  const words = text.toLowerCase().split(/\s+/)
  return items.filter((setting) => {
    const searched = `${setting.key} ${setting.value} ${setting.description ?? ''}`.toLowerCase()
    return !(isChangedOnly && isDefault(setting)) && words.every((word) => searched.includes(word))
  })
}
