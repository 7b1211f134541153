import { useLocation } from 'preact-iso/router'
import { Drawer } from '../../../parts/drawer.tsx'
import { LinkChoice } from '../../../parts/link-choice.tsx'
import { ListView } from '../../../parts/list/list-view.tsx'
import { PageHead } from '../../../parts/page-head.tsx'
import { EmptyState } from '../../../parts/states.tsx'
import { pathOf, type ViewProps } from '../view.ts'
import { commandRuleColumns } from './columns.tsx'
import { CommandRuleDrawer } from './drawer.tsx'
import { PolicyHistory } from './history.tsx'
import { commandRuleList } from './source.ts'
import { commandPolicyWords } from './words.ts'

const PATH = pathOf({ name: 'command-policy' })
const VIEWS = ['rules', 'history'] as const

/** Who may run which command, and beside it the rule of the command that the address names; or who changed the rules. */
export function CommandPolicyPage({ id }: ViewProps) {
  const { title, about, views } = commandPolicyWords()
  const view = useLocation().query['view'] === 'history' ? 'history' : 'rules'
  const choices = VIEWS.map((each) => ({
    title: views[each],
    href: each === 'history' ? `${PATH}?view=history` : PATH,
    isCurrent: each === view,
  }))
  return (
    <>
      <PageHead title={title}>
        <LinkChoice label={views.label} choices={choices} />
      </PageHead>
      <p class="muted">{about}</p>
      {view === 'history' ? <PolicyHistory /> : <RuleList id={id} />}
    </>
  )
}

function RuleList({ id }: { readonly id: string | undefined }) {
  const words = commandPolicyWords()
  return (
    <ListView
      path={PATH}
      source={commandRuleList}
      words={words}
      columns={commandRuleColumns(words)}
      icon="policy"
      id={id}
      detail={({ id: shown, item, onClose }) =>
        item ? (
          <CommandRuleDrawer key={shown} command={item} onClose={onClose} />
        ) : (
          <Drawer title={shown} onClose={onClose}>
            <EmptyState icon="policy" title={words.notListed} />
          </Drawer>
        )
      }
    />
  )
}
