import { serverClock } from '../../../api/browser.ts'
import { localDistance, localNumber, localTime } from '../../../i18n/local.ts'
import { FactList } from '../../../parts/facts.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { Section } from '../../../parts/section.tsx'
import { lastValues } from './last-values.ts'
import { agentResource } from './model.ts'
import { telemetryWords } from './words.ts'

export interface AgentDrawerProps {
  readonly id: string
  readonly onClose: () => void
}

/** One agent with the values of its last item. */
export function AgentDrawer({ id, onClose }: AgentDrawerProps) {
  const { fields, values, noValues } = telemetryWords()
  const model = useResource(agentResource, id)
  return (
    <ResourceDrawer id={id} model={model} onClose={onClose}>
      {({ items, first_at, last_at, last_item: { at, data } }) => (
        <>
          <FactList
            facts={[
              [fields.items, localNumber(items)],
              [fields.first_at, localTime(first_at)],
              [fields.last_at, `${localTime(last_at)} (${localDistance(last_at, serverClock.now())})`],
              [fields.measured_at, localTime(at)],
            ]}
          />
          <Section title={values}>
            {Object.keys(data).length === 0 ? (
              <p class="muted">{noValues}</p>
            ) : (
              <FactList facts={lastValues(data)} />
            )}
          </Section>
        </>
      )}
    </ResourceDrawer>
  )
}
