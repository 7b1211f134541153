import { settingsMarkdown } from '../../src/config/describe.ts'
import { page } from './markdown.ts'

const WHERE = `Settings are read from a TOML file, from the environment and from options. An option beats the
environment, the environment beats the file, the file beats the default. The file is the first of these that there
is: the one that \`--config\` names, the one that \`PLATFORM_CONFIG\` names, \`./platform.toml\`,
\`/etc/platform/platform.toml\`. None is fine.

A key with dots is a table in TOML: \`api.listen\` is \`listen\` in \`[api]\`. Lists are arrays in TOML and comma
separated in the environment. Durations are written \`30s\`, \`15m\`, \`2h\`, \`7d\`. An empty variable counts as
unset. An unknown key or a wrong value is an error that names the place, and nothing is started.

\`platform config\` prints what is in effect, and where each value came from. Settings of parts that are
[coming](../../README.md#what-is-in-this-release) are accepted and have no effect yet.`

export function configurationPage(): string {
  return page('Configuration', WHERE, settingsMarkdown())
}
