import { localTime } from '../../../i18n/local.ts'
import { confirmAction } from '../../../parts/confirm.tsx'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { describeFailure } from '../../../parts/failure-words.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { showToast } from '../../../parts/toast.tsx'
import { call, session } from '../platform.ts'
import { SILENCE_TONES, type Silence } from './model.ts'
import { silenceWords } from './words.ts'

export interface SilenceDrawerProps {
  readonly silence: Silence
  readonly onClose: () => void
  readonly onEnded: () => void
}

/** One silence. The API has no operation for one alone, so it is that of the list. */
export function SilenceDrawer({ silence, onClose, onEnded }: SilenceDrawerProps) {
  const words = silenceWords()
  const { id, state } = silence
  const end = async () => {
    const { endTitle: title, endText: text, end: action } = words
    if (!(await confirmAction({ title, text, action, isDestructive: true }))) return
    const result = await call('endSilence', { path: { id } })
    if (!result.ok) return showToast('warning', describeFailure(result.failure))
    showToast('good', words.ended)
    onEnded()
  }
  return (
    <Drawer title={silence.reason} onClose={onClose}>
      <div class="actions">
        <StatusBadge tone={SILENCE_TONES[state]} label={words.states[state]} />
        {state !== 'ended' && session.may('endSilence') && (
          <button class="button button-danger" type="button" onClick={() => void end()}>
            {words.end}
          </button>
        )}
      </div>
      <FactList
        facts={[
          ...matcherFacts(silence),
          [words.fields.starts_at, localTime(silence.starts_at)],
          [words.fields.ends_at, localTime(silence.ends_at)],
          [words.by, silence.created_by],
        ]}
      />
    </Drawer>
  )
}

const MATCHERS = ['source', 'alarm_id', 'server_addr', 'title'] as const

function matcherFacts({ matchers }: Silence) {
  const { fields } = silenceWords()
  return MATCHERS.flatMap((name) => {
    const pattern = matchers[name]
    return pattern === undefined ? [] : [[fields[`matchers.${name}`], pattern] as const]
  })
}
