import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { pathOf, type ViewProps } from '../view.ts'
import { agentColumns } from './columns.tsx'
import { AgentDrawer } from './drawer.tsx'
import { agentList } from './model.ts'
import { telemetryWords } from './words.ts'

const PATH = pathOf({ name: 'telemetry' })

/** The agents that send telemetry: the list, and beside it the agent that the address names. */
export function TelemetryPage({ id }: ViewProps) {
  const words = telemetryWords()
  return (
    <ObjectsPage
      path={PATH}
      source={agentList}
      words={words}
      columns={agentColumns(words)}
      icon="telemetry"
      id={id}
      detail={({ id: shown, onClose }) => <AgentDrawer key={shown} id={shown} onClose={onClose} />}
    />
  )
}
