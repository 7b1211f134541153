import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { commandLabel } from '../command-names.ts'
import { pathOf, type ViewProps } from '../view.ts'
import { executionColumns } from './columns.tsx'
import { ExecutionDrawer } from './drawer.tsx'
import type { ExecutionStatus } from './model.ts'
import { executionList } from './source.ts'
import { executionWords } from './words.ts'

/** The executions of commands, and beside them the execution that the address names. */
export function ExecutionsPage({ id }: ViewProps) {
  const words = executionWords()
  return (
    <ObjectsPage
      path={pathOf({ name: 'executions' })}
      source={executionList}
      words={words}
      labelOf={(name, value) =>
        name === 'command_id' ? commandLabel(value) : words.statuses[value as ExecutionStatus]
      }
      columns={executionColumns(words)}
      icon="executions"
      id={id}
      detail={({ id: shown, onClose }) => <ExecutionDrawer key={shown} id={shown} onClose={onClose} />}
    />
  )
}
