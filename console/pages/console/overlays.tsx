import { useLocation } from 'preact-iso/router'
import { availableActions, type Action } from '../../parts/actions/actions.ts'
import { KeyHelp } from '../../parts/actions/keys.tsx'
import { Palette } from '../../parts/actions/palette.tsx'
import { addressOf } from '../../parts/list/list-query.ts'
import type { ConsolePage } from './pages.ts'
import { session } from './platform.ts'
import { ME, SAVED_VIEWS } from './saved-views.ts'
import { shellWords } from './shell-words.ts'
import { suggestCommands, suggestObjects, suggestSearches } from './suggestions.ts'
import { Tour } from './tour.tsx'
import { pathOf } from './view.ts'

export interface OverlayProps {
  readonly overlay: 'palette' | 'keys' | 'tour'
  /** The pages that the user may open. */
  readonly pages: readonly ConsolePage[]
  readonly onClose: () => void
}

/** What helps to find the way, in front of the page: loaded when it is first needed. */
export function OverlayInFront({ overlay, pages, onClose }: OverlayProps) {
  switch (overlay) {
    case 'palette':
      return <ConsolePalette pages={pages} onClose={onClose} />
    case 'keys':
      return <KeyHelp onClose={onClose} />
    case 'tour':
      return <Tour onClose={onClose} />
  }
}

function ConsolePalette({ pages, onClose }: Omit<OverlayProps, 'overlay'>) {
  const { route } = useLocation()
  return (
    <Palette
      actions={() => [...availableActions(), ...viewActions(pages, route)]}
      suggest={(text) => [
        ...suggestObjects(text, route),
        ...suggestCommands(text, route),
        ...suggestSearches(text, route),
      ]}
      none={shellWords().nothingFound}
      onClose={onClose}
    />
  )
}

/** The views of the pages that the user may open. */
function viewActions(pages: readonly ConsolePage[], route: (address: string) => void): readonly Action[] {
  const names = new Set(pages.map(({ name }) => name))
  const me = session.bearer.value?.id ?? ''
  return SAVED_VIEWS.filter(({ page }) => names.has(page)).map(({ page, title, query, keywords }) => {
    const filled = Object.entries(query).map(([name, value]) => [name, value === ME ? me : value])
    const address = addressOf(pathOf(page), Object.fromEntries(filled))
    return { title: title(), keywords, run: () => route(address) }
  })
}
