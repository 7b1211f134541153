import { serverClock } from '../../../api/browser.ts'
import { localTime, localWhen } from '../../../i18n/local.ts'
import { Icon } from '../../../parts/icon.tsx'
import { activeSilenceAddress } from '../silences/active-silences.ts'
import type { Silence } from '../silences/model.ts'
import { userLabel } from '../user-names.ts'
import { alertWords } from './words.ts'

export interface SilenceLinkProps {
  /** Undefined where no silence covers the alert. */
  readonly silence: Silence | undefined
  /** The icon alone says that it is silenced. */
  readonly isBrief?: boolean
}

/** Leads to the silence that covers an alert, and says in one line when it ends and who made it. */
export function SilenceLink({ silence, isBrief = false }: SilenceLinkProps) {
  if (!silence) return null
  const { silenced, until } = alertWords()
  const { reason, ends_at, created_by } = silence
  return (
    <a class="mark-link" href={activeSilenceAddress(silence)} title={`${reason} · ${localTime(ends_at)}`}>
      <Icon name="mute" />
      <span {...(isBrief && { class: 'visually-hidden' })}>{silenced} </span>
      <bdi>
        {until(localWhen(Date.parse(ends_at), serverClock.now()))} · {userLabel(created_by)}
      </bdi>
    </a>
  )
}
