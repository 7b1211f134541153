import type { ComponentChildren } from 'preact'
import { isolated } from '../../../i18n/isolated.ts'
import { Icon } from '../../../parts/icon.tsx'
import { pathOf } from '../view.ts'
import { mostUrgent, type Overview, type PartName } from './model.ts'
import { partAddress, partTone } from './part-stats.tsx'
import { overviewWords } from './words.ts'

/** What to do first, with a link to it; nothing while all is well. */
export function FirstStep({ overview }: { readonly overview: Overview }) {
  const name = mostUrgent((each) => partTone(each, overview))
  if (name === undefined) return null
  const words = overviewWords()
  return (
    <p class="page-notice">
      <Icon name="warning" />
      <span>
        {words.first} {linkTo(name, overview)}
      </span>
    </p>
  )
}

function linkTo<Name extends PartName>(name: Name, overview: Overview): ComponentChildren {
  const { steps, stepOfAlert } = overviewWords()
  const part = overview[name]
  if (part === null) return null
  const alert = name === 'alerts' ? overview.alerts?.first : undefined
  if (!alert) return <a href={partAddress(name, part)}>{steps[name]}</a>
  return (
    <a href={`${pathOf({ name: 'alerts' })}/${encodeURIComponent(alert.id)}`}>
      {stepOfAlert(isolated(alert.title))}
    </a>
  )
}
