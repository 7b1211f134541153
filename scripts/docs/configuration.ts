import { SETTING_TABLE } from '../../src/config/schema.ts'
import { variablesOf, type EnvironmentVariable, type Setting } from '../../src/config/setting.ts'
import { code, page, table } from './markdown.ts'

const INTRODUCTION = `Settings come from a TOML file, from the environment and from options. An option beats the
environment, the environment beats the file, the file beats the default. The program reads the first of these files
that exists: the one that \`--config\` names, the one that \`PLATFORM_CONFIG\` names, \`./platform.toml\`,
\`/etc/platform/platform.toml\`. A file is optional.

A key with dots stands in a table: \`api.listen\` is \`listen\` in \`[api]\`. Lists are arrays in TOML and comma
separated in the environment. Durations are written \`30s\`, \`15m\`, \`2h\`, \`7d\`. An empty variable counts as
unset. An unknown key and a wrong value are errors: the program names the place and does not start.

\`platform config\` prints the settings in effect and the source of each value.`

export function configurationPage(): string {
  const rows = Object.entries(SETTING_TABLE).map(settingRow)
  return page(
    'Configuration',
    INTRODUCTION,
    table(['Key', 'Environment', 'Type', 'Default', 'Meaning'], rows),
  )
}

function settingRow([key, setting]: readonly [string, Setting]): string[] {
  const { type, description } = setting
  return [
    code(key),
    variablesOf(key, setting).map(variableCell).join('; '),
    type.name,
    defaultCell(setting),
    description,
  ]
}

function variableCell({ name, member, when }: EnvironmentVariable): string {
  if (member !== undefined) return `${code(name)}, a table with ${code(member)}`
  return when ? `${code(name)} ${when.documented}` : code(name)
}

function defaultCell({ default: text, documentedDefault }: Setting): string {
  return documentedDefault ?? (typeof text === 'string' ? code(text) : 'unset')
}
