import { alignColumns, printable } from '../kernel/text.ts'
import type { EffectiveSetting, LoadedConfig } from './config.ts'

/** Each setting as it may be shown: on one line, secrets masked. */
export function describeSettings(settings: LoadedConfig['settings']): EffectiveSetting[] {
  return settings.map(({ key, text, source, overrides }) => ({
    key,
    text: printable(text),
    source: printable(source),
    ...(overrides !== undefined && { overrides: printable(overrides) }),
  }))
}

/** What `platform config` prints: each setting with its value and where that came from. */
export function describeConfig({ settings }: LoadedConfig): string {
  const rows = describeSettings(settings).map(({ key, text, source, overrides }) => [
    key,
    text,
    overrides === undefined ? source : `${source}, overrides ${overrides}`,
  ])
  return alignColumns([['KEY', 'VALUE', 'SOURCE'], ...rows])
}
