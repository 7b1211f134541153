import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { pathOf, type ViewProps } from '../view.ts'
import { session } from '../platform.ts'
import { silenceColumns } from './columns.tsx'
import { SilenceDrawer } from './drawer.tsx'
import { silenceList, type Silence } from './model.ts'
import { NewSilence } from './new-silence.tsx'
import { silenceWords } from './words.ts'

const PATH = pathOf({ name: 'silences' })

/** The silences: the list, and beside it the silence that the address names. */
export function SilencesPage({ id }: ViewProps) {
  const words = silenceWords()
  return (
    <ObjectsPage
      path={PATH}
      source={silenceList}
      words={words}
      labelOf={(_, value) => words.states[value as Silence['state']]}
      columns={silenceColumns(words)}
      icon="mute"
      id={id}
      newItem={
        session.may('createSilence') && {
          title: words.newSilence,
          dialog: ({ onClose }) => <NewSilence onClose={onClose} />,
        }
      }
      detail={({ id: shown, onClose }) => <SilenceDrawer key={shown} id={shown} onClose={onClose} />}
    />
  )
}
