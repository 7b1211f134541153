import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { activeSilences } from '../silences/active-silences.ts'
import { coveringSilence } from '../silences/covering.ts'
import { pathOf, type ViewProps } from '../view.ts'
import { alertColumns } from './columns.tsx'
import { AlertDrawer } from './drawer.tsx'
import type { Alert } from './model.ts'
import { alertList } from './source.ts'
import { alertWords } from './words.ts'

const PATH = pathOf({ name: 'alerts' })

/** The alerts: the list, and beside it the alert that the address names. */
export function AlertsPage({ id }: ViewProps) {
  const words = alertWords()
  const silences = useResource(activeSilences, '').value.value?.items ?? []
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
      columns={alertColumns(words, silenceFor)}
      icon="alerts"
      id={id}
      detail={(detail) => (
        <AlertDrawer key={detail.id} id={detail.id} silenceFor={silenceFor} onClose={detail.onClose} />
      )}
    />
  )
}
