import { ListView } from '../../../parts/list/list-view.tsx'
import { useList } from '../../../parts/list/use-list.ts'
import { useSelectedItem } from '../../../parts/list/use-selected-item.ts'
import { PageHead } from '../../../parts/page-head.tsx'
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
  const list = useList(alertList)
  const { hrefOf, close } = useSelectedItem(PATH, list.query)
  return (
    <>
      <PageHead title={words.title} />
      <ListView
        path={PATH}
        source={alertList}
        list={list}
        words={words}
        labelOf={(name, value) =>
          name === 'status'
            ? words.statuses[value as Alert['status']]
            : words.severities[value as Alert['severity']]
        }
        columns={alertColumns(words)}
        icon="alerts"
        hrefOf={(alert) => hrefOf(alert.id)}
        selected={id}
        detail={id !== undefined && <AlertDrawer key={id} id={id} onClose={close} />}
      />
    </>
  )
}
