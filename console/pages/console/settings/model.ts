import type { AnswerOf } from '../../../api/operations.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live } from '../platform.ts'

export type Settings = AnswerOf<'getConfig'>
export type Setting = Settings['items'][number]

/** The settings of the api. They change with a restart only, and no event reports that. */
export const settingsResource: ResourceSource<Settings> = {
  live,
  prefix: 'config.',
  read: (_, signal) => call('getConfig', {}, signal),
  isAbout: () => false,
}

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
