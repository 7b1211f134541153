import { Drawer } from '../../../parts/drawer.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { EmptyState } from '../../../parts/states.tsx'
import { pathOf, type ViewProps } from '../view.ts'
import { commandColumns } from './columns.tsx'
import { CommandDrawer } from './drawer.tsx'
import { commandList } from './model.ts'
import { commandWords } from './words.ts'

/** The commands that the user may run, and beside them the command that the address names. */
export function CommandsPage({ id }: ViewProps) {
  const words = commandWords()
  return (
    <ObjectsPage
      path={pathOf({ name: 'commands' })}
      source={commandList}
      words={words}
      columns={commandColumns(words)}
      icon="commands"
      id={id}
      detail={({ id: shown, item, onClose }) =>
        item ? (
          <CommandDrawer key={shown} command={item} onClose={onClose} />
        ) : (
          <Drawer title={shown} onClose={onClose}>
            <EmptyState icon="commands" title={words.notListed} />
          </Drawer>
        )
      }
    />
  )
}
