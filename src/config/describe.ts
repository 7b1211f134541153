import { alignColumns } from '../kernel/table.ts'
import { printable } from './config-error.ts'
import type { LoadedConfig } from './config.ts'
import { SETTING_LIST } from './schema.ts'
import type { EnvironmentVariable, Setting } from './schema.ts'

/** What `platform config` prints: each setting with its value and where that came from, secrets masked. */
export function describeConfig({ settings }: LoadedConfig): string {
  const rows = settings.map(({ key, text, source }) => [key, printable(text), printable(source)])
  return alignColumns([['KEY', 'VALUE', 'SOURCE'], ...rows])
}

/** The reference of all settings as a Markdown table. */
export function settingsMarkdown(): string {
  const rows = SETTING_LIST.map(([key, setting]) => [
    code(key),
    setting.environment.map(environmentCell).join('; '),
    setting.type.name,
    defaultCell(setting),
    setting.description,
  ])
  const header = ['Key', 'Environment', 'Type', 'Default', 'Meaning']
  return [header, header.map(() => '---'), ...rows].map(markdownRow).join('\n') + '\n'
}

function environmentCell({ name, when }: EnvironmentVariable): string {
  return when ? `${code(name)} ${when.documented}` : code(name)
}

function defaultCell({ default: text, documentedDefault }: Setting<unknown>): string {
  return documentedDefault ?? (typeof text === 'string' ? code(text) : '')
}

function code(text: string): string {
  return `\`${text}\``
}

function markdownRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
