import { localTime } from '../../../i18n/local.ts'
import { FactList } from '../../../parts/facts.tsx'
import { useListRefresh } from '../../../parts/list/list-refresh.ts'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { sendChange } from '../../../parts/send-change.ts'
import { call, session } from '../platform.ts'
import { userLabel } from '../user-names.ts'
import { SILENCE_TONES, silenceResource, type Silence } from './model.ts'
import { silenceWords } from './words.ts'

export interface SilenceDrawerProps {
  readonly id: string
  readonly onClose: () => void
}

/** One silence, and its end. */
export function SilenceDrawer({ id, onClose }: SilenceDrawerProps) {
  const model = useResource(silenceResource, id)
  const refreshList = useListRefresh()
  const onEnd = () => {
    void model.refresh()
    refreshList()
  }
  return (
    <ResourceDrawer id={id} model={model} titleOf={({ reason }) => reason} onClose={onClose}>
      {(silence) => <SilenceDetails silence={silence} onEnd={onEnd} />}
    </ResourceDrawer>
  )
}

interface SilenceDetailsProps {
  readonly silence: Silence
  readonly onEnd: () => void
}

function SilenceDetails({ silence, onEnd }: SilenceDetailsProps) {
  const words = silenceWords()
  const { id, state } = silence
  const end = () => {
    const { endTitle: title, endText: text, end: action, ended: done } = words
    return sendChange({
      question: { title, text, action, isDestructive: true },
      send: () => call('endSilence', { path: { id } }),
      done,
      onDone: onEnd,
    })
  }
  return (
    <>
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
          [words.createdBy, userLabel(silence.created_by)],
          [words.endedBy, silence.ended_by && userLabel(silence.ended_by)],
        ]}
      />
    </>
  )
}

const MATCHERS = ['source', 'alarm_id', 'server_addr', 'title'] as const

function matcherFacts({ matchers }: Silence) {
  const { fields } = silenceWords()
  return MATCHERS.map((name) => [fields[`matchers.${name}`], matchers[name] ?? null] as const)
}
