import { Type } from 'typebox'
import { describeSettings } from '../../config/describe.ts'
import type { LoadedConfig } from '../../config/config.ts'
import { SETTING_TABLE } from '../../config/schema.ts'
import { Fields, Nullable } from '../../wire/schemas.ts'
import { ok, route, type Route } from '../../wire/route.ts'

const ConfigSchema = Fields(
  {
    file: Nullable<string>({
      type: 'string',
      description: 'The absolute path of the configuration file; null without one.',
      examples: ['/etc/platform/platform.toml'],
    }),
    items: Type.Array(
      Fields({
        key: Type.String({ examples: ['auth.token_ttl'] }),
        value: Type.String({ description: 'Secrets are `**redacted**`.', examples: ['15m'] }),
        source: Type.String({
          description: 'Where the value comes from.',
          examples: ['default', 'environment TOKEN_TTL'],
        }),
        description: Nullable<string>({
          type: 'string',
          description: 'What the setting is for; null for a command or a template of the configuration.',
          examples: ['How long a token of a sign-in is valid.'],
        }),
      }),
    ),
  },
  { $id: 'Config' },
)

/** The settings of this process, as `platform config` prints them (docs/specification.md, Configuration). */
export function configRoute({ settings, file }: Pick<LoadedConfig, 'settings' | 'file'>): Route {
  const items = describeSettings(settings).map(({ key, text: value, source }) => ({
    key,
    value,
    source,
    description: SETTING_TABLE[key]?.description ?? null,
  }))
  return route({
    method: 'GET',
    path: '/config',
    operation: 'getConfig',
    tag: 'Operations',
    summary: 'The settings in effect',
    description: 'Of the process that answers, as `platform config` prints them; secrets are masked.',
    access: ['admin'],
    answers: { 200: { description: 'Every setting.', schema: ConfigSchema } },
    read: () => ok({ file: file ?? null, items }),
  })
}
