import { localTime } from '../../../i18n/local.ts'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { sendChange } from '../../../parts/send-change.ts'
import { call, session } from '../platform.ts'
import { userLabel } from '../user-names.ts'
import { SILENCE_TONES, type Silence } from './model.ts'
import { silenceWords } from './words.ts'

export interface SilenceDrawerProps {
  readonly silence: Silence
  readonly onClose: () => void
  readonly onChange: () => void
}

/** One silence. The API has no operation for one alone, so it is that of the list. */
export function SilenceDrawer({ silence, onClose, onChange }: SilenceDrawerProps) {
  const words = silenceWords()
  const { id, state } = silence
  const end = () => {
    const { endTitle: title, endText: text, end: action, ended: done } = words
    return sendChange({
      question: { title, text, action, isDestructive: true },
      send: () => call('endSilence', { path: { id } }),
      done,
      onDone: onChange,
    })
  }
  return (
    <Drawer title={silence.reason} onClose={onClose}>
      <ObjectActions
        status={{ tone: SILENCE_TONES[state], label: words.states[state] }}
        actions={[
          state !== 'ended' &&
            session.may('endSilence') && { title: words.end, isDestructive: true, run: end },
        ]}
      />
      <FactList
        facts={[
          ...matcherFacts(silence),
          [words.fields.starts_at, localTime(silence.starts_at)],
          [words.fields.ends_at, localTime(silence.ends_at)],
          [words.by, userLabel(silence.created_by)],
        ]}
      />
    </Drawer>
  )
}

const MATCHERS = ['source', 'alarm_id', 'server_addr', 'title'] as const

function matcherFacts({ matchers }: Silence) {
  const { fields } = silenceWords()
  return MATCHERS.map((name) => [fields[`matchers.${name}`], matchers[name] ?? null] as const)
}
