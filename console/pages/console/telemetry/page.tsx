import { serverClock } from '../../../api/browser.ts'
import { localNumber, localTime, localDistance } from '../../../i18n/local.ts'
import { FactList } from '../../../parts/facts.tsx'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { RelativeTime } from '../../../parts/relative-time.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { Section } from '../../../parts/section.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { pathOf, type DetailProps, type ViewProps } from '../view.ts'
import { lastValues } from './last-values.ts'
import { agentList, agentResource, type Agent } from './model.ts'
import { isSilent } from './silent.ts'
import { telemetryWords } from './words.ts'

const PATH = pathOf('telemetry')

/** The agents that send telemetry: the list, and beside it the agent that the address names. */
export function TelemetryPage({ id }: ViewProps) {
  const words = telemetryWords()
  return (
    <ObjectsPage
      path={PATH}
      source={agentList}
      words={words}
      columns={agentColumns()}
      icon="telemetry"
      id={id}
      detail={(detail) => <AgentDrawer key={detail.id} {...detail} />}
    />
  )
}

function agentColumns(): readonly TableColumn<Agent>[] {
  const { fields, silent } = telemetryWords()
  const column = fieldColumns<Agent, typeof fields>(fields)
  return [
    column.code('agent_id'),
    column.cell('last_at', (agent) => (
      <>
        <RelativeTime time={agent.last_at} />{' '}
        {isSilent(agent, serverClock.now()) && <StatusBadge tone="warning" label={silent} />}
      </>
    )),
    column.number('items', { isWideOnly: true }),
    column.time('first_at', { isWideOnly: true, isOptional: true }),
  ]
}

/** One agent with the values of its last item. */
function AgentDrawer({ id, onClose }: DetailProps) {
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
