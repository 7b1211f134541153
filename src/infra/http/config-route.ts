import { Type } from 'typebox'
import { describeSettings } from '../../config/describe.ts'
import type { EffectiveSetting } from '../../config/config.ts'
import { Fields } from '../../wire/schemas.ts'
import { ok, route, type Route } from '../../wire/route.ts'

const ConfigSchema = Fields(
  {
    items: Type.Array(
      Fields({
        key: Type.String({ examples: ['auth.token_ttl'] }),
        value: Type.String({ description: 'Secrets are `**redacted**`.', examples: ['15m'] }),
        source: Type.String({
          description: 'Where the value comes from.',
          examples: ['default', 'environment TOKEN_TTL'],
        }),
      }),
    ),
  },
  { $id: 'Config' },
)

/** The settings of this process, as `platform config` prints them (docs/specification.md, Configuration). */
export function configRoute(settings: readonly EffectiveSetting[]): Route {
  const items = describeSettings(settings).map(({ key, text: value, source }) => ({ key, value, source }))
  return route({
    method: 'GET',
    path: '/config',
    operation: 'getConfig',
    tag: 'Operations',
    summary: 'The settings in effect',
    description: 'Of the process that answers, as `platform config` prints them; secrets are masked.',
    access: ['admin'],
    answers: { 200: { description: 'Every setting.', schema: ConfigSchema } },
    read: () => ok({ items }),
  })
}
