import { useSignal } from '@preact/signals'
import { useActions } from '../../../parts/actions/actions.ts'
import { focusTextFilter } from '../../../parts/list/filter-bar.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { activeSilences } from '../silences/active-silences.ts'
import { coveringSilence } from '../silences/covering.ts'
import { pathOf, type ViewProps } from '../view.ts'
import { alertColumns } from './columns.tsx'
import { AlertDrawer } from './drawer.tsx'
import type { Alert } from './model.ts'
import { maySelect, selectionColumn, SelectionBar } from './selection.tsx'
import { SeverityChips } from './severity-chips.tsx'
import { alertList } from './source.ts'
import { alertWords } from './words.ts'

const PATH = pathOf({ name: 'alerts' })

/** The alerts: the list, and beside it the alert that the address names. */
export function AlertsPage({ id }: ViewProps) {
  const words = alertWords()
  useActions(() => [{ title: words.find, keys: '/', run: focusTextFilter }])
  const silences = useResource(activeSilences, '').value.value?.items ?? []
  const selection = useSignal<ReadonlySet<string>>(new Set())
  const silenceFor = (alert: Alert) => coveringSilence(alert, silences)
  return (
    <ObjectsPage
      path={PATH}
      source={alertList}
      words={words}
      labelOf={(name, value) =>
        name === 'status'
          ? words.statuses[value as Alert['status']]
          : words.severities[value as Alert['severity']]
      }
      columns={[...alertColumns(words, silenceFor), ...(maySelect() ? [selectionColumn(selection)] : [])]}
      icon="alerts"
      id={id}
      summary={<SeverityChips path={PATH} />}
      toolbar={(alerts) =>
        maySelect() && alerts.length > 0 && <SelectionBar selection={selection} alerts={alerts} />
      }
      detail={(detail) => (
        <AlertDrawer key={detail.id} id={detail.id} silenceFor={silenceFor} onClose={detail.onClose} />
      )}
    />
  )
}
