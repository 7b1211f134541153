import { alignColumns } from '../kernel/table.ts'
import { printable } from './config-error.ts'
import type { LoadedConfig } from './config.ts'

/** What `platform config` prints: each setting with its value and where that came from, secrets masked. */
export function describeConfig({ settings }: LoadedConfig): string {
  const rows = settings.map(({ key, text, source }) => [key, printable(text), printable(source)])
  return alignColumns([['KEY', 'VALUE', 'SOURCE'], ...rows])
}
