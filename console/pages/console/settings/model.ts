import type { AnswerOf } from '../../../api/operations.ts'
import { language } from '../../../i18n/language.ts'
import { resourceOf } from '../sources.ts'
import { CHINESE_DESCRIPTIONS } from './descriptions-zh.ts'

export type Settings = AnswerOf<'getConfig'>
export type Setting = Settings['items'][number]

/** The settings of the api. They change with a restart only, and no event reports that. */
export const settingsResource = resourceOf('getConfig', 'config.', () => ({}), {
  isAbout: () => false,
})

export function isDefault({ source }: Setting): boolean {
  return source === 'default'
}

/** What a setting is for, in the language of the reader if it is known in that. */
export function descriptionOf({ key, description }: Setting): string {
  const chinese = language.value === 'zh' ? CHINESE_DESCRIPTIONS[key] : undefined
  return chinese ?? description?.replaceAll('`', '') ?? ''
}

/** The settings by the first part of their keys, in their order. */
export function settingSections(items: readonly Setting[]): ReadonlyMap<string, readonly Setting[]> {
  return Map.groupBy(items, ({ key }) => (key.includes('.') ? key.slice(0, key.indexOf('.')) : 'general'))
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
    const searched =
      `${setting.key} ${setting.value} ${setting.description ?? ''} ${descriptionOf(setting)}`.toLowerCase()
    return !(isChangedOnly && isDefault(setting)) && words.every((word) => searched.includes(word))
  })
}
