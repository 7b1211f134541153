import { useSignal } from '@preact/signals'
import { useActions } from '../../../parts/actions/actions.ts'
import { Icon } from '../../../parts/icon.tsx'
import { ListView } from '../../../parts/list/list-view.tsx'
import { useList } from '../../../parts/list/use-list.ts'
import { useSelectedItem } from '../../../parts/list/use-selected-item.ts'
import { PageHead } from '../../../parts/page-head.tsx'
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
  const isCreating = useSignal(false)
  const list = useList(silenceList)
  const { hrefOf, close } = useSelectedItem(PATH, list.query)
  const mayCreate = session.may('createSilence')
  const create = () => void (isCreating.value = true)
  useActions(() => (mayCreate ? [{ title: words.newSilence, keys: 'n', run: create }] : []))
  const selected = list.model.page.value?.items.find((each) => each.id === id)
  return (
    <>
      <PageHead title={words.title}>
        {mayCreate && (
          <button class="button button-main" type="button" onClick={create}>
            <Icon name="plus" />
            {words.newSilence}
          </button>
        )}
      </PageHead>
      <ListView
        path={PATH}
        source={silenceList}
        list={list}
        words={words}
        labelOf={(_, value) => words.states[value as Silence['state']]}
        columns={silenceColumns(words)}
        icon="mute"
        hrefOf={(silence) => hrefOf(silence.id)}
        selected={id}
        detail={
          selected && (
            <SilenceDrawer silence={selected} onClose={close} onEnded={() => void list.model.refresh()} />
          )
        }
      />
      {isCreating.value && <NewSilence onClose={() => (isCreating.value = false)} />}
    </>
  )
}
