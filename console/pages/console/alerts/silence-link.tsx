import { localTime } from '../../../i18n/local.ts'
import { Icon } from '../../../parts/icon.tsx'
import { activeSilenceAddress } from '../silences/active-silences.ts'
import type { Silence } from '../silences/model.ts'
import { alertWords } from './words.ts'

export interface SilenceLinkProps {
  /** Undefined where no silence covers the alert. */
  readonly silence: Silence | undefined
}

/** Leads to the silence that covers an alert, and says when it ends. */
export function SilenceLink({ silence }: SilenceLinkProps) {
  if (!silence) return null
  return (
    <a class="mark-link" href={activeSilenceAddress(silence)} title={silence.reason}>
      <Icon name="mute" />
      {alertWords().silencedUntil(localTime(silence.ends_at))}
    </a>
  )
}
