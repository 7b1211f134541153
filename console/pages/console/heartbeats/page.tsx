import { useSignal } from '@preact/signals'
import { localTime, localSeconds } from '../../../i18n/local.ts'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { useListRefresh } from '../../../parts/list/list-refresh.ts'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { Section } from '../../../parts/section.tsx'
import { sendChange } from '../../../parts/send-change.ts'
import { Timeline } from '../../../parts/timeline.tsx'
import { useAnswer } from '../../../parts/use-answer.ts'
import { alertWords } from '../alerts/words.ts'
import { WhoChanged } from '../audit/who-changed.tsx'
import { session, call } from '../platform.ts'
import { RouteAnswer } from '../receivers/routes.tsx'
import { pathOf, type ViewProps } from '../view.ts'
import { expectation } from './expectation.ts'
import { NewHeartbeat, EditHeartbeat } from './heartbeat-form.tsx'
import { heartbeatList, HEARTBEAT_TONES, toneOf, type Heartbeat, type Ping } from './model.ts'
import { PingAddress } from './ping-address.tsx'
import { heartbeatWords } from './words.ts'

const PATH = pathOf('heartbeats')

/** The heartbeats: the list, and beside it the heartbeat that the address names. */
export function HeartbeatsPage({ id }: ViewProps) {
  const words = heartbeatWords()
  return (
    <ObjectsPage
      path={PATH}
      source={heartbeatList}
      words={words}
      columns={heartbeatColumns()}
      icon="heart"
      id={id}
      newItem={session.may('putHeartbeat') && NewHeartbeat}
      detail={({ item, onClose }) => item && <HeartbeatDrawer heartbeat={item} onClose={onClose} />}
    />
  )
}

function heartbeatColumns(): readonly TableColumn<Heartbeat>[] {
  const { fields, statuses, never } = heartbeatWords()
  const column = fieldColumns<Heartbeat, typeof fields>(fields)
  return [
    column.code('name'),
    column.status('status', HEARTBEAT_TONES, statuses),
    column.time('last_beat_at', { isWideOnly: true }, never),
    column.time('due_at', { isWideOnly: true, isOptional: true }),
  ]
}

interface HeartbeatDrawerProps {
  readonly heartbeat: Heartbeat
  readonly onClose: () => void
}

/** One heartbeat, as the list has it. */
function HeartbeatDrawer({ heartbeat, onClose }: HeartbeatDrawerProps) {
  const words = heartbeatWords()
  const { name, status } = heartbeat
  const { address, beat, rotate, remove } = useHeartbeatChanges(name)
  const refreshList = useListRefresh()
  const isEditing = useSignal(false)
  return (
    <Drawer title={name} onClose={onClose}>
      <ObjectActions
        status={{ tone: HEARTBEAT_TONES[status], label: words.statuses[status] }}
        actions={[
          session.may('putHeartbeat') && { title: words.edit, run: () => (isEditing.value = true) },
          session.may('rotateHeartbeat') && { title: words.rotate.action, run: rotate },
          session.may('beatHeartbeat') && { title: words.beat.action, run: beat },
          session.may('deleteHeartbeat') && { title: words.remove.action, isDestructive: true, run: remove },
        ]}
      >
        {isEditing.value && (
          <EditHeartbeat
            heartbeat={heartbeat}
            onSaved={refreshList}
            onClose={() => (isEditing.value = false)}
          />
        )}
        {address.value !== null && (
          <PingAddress
            schedule={heartbeat.schedule}
            pingUrl={address.value}
            onClose={() => (address.value = null)}
          />
        )}
      </ObjectActions>
      <HeartbeatFacts heartbeat={heartbeat} />
      {session.may('explainAlertRoute') && <WhoIsNotified heartbeat={heartbeat} />}
      <HeartbeatPings heartbeat={heartbeat} />
      <WhoChanged kind="heartbeat" id={name} version={heartbeat.updated_at} />
    </Drawer>
  )
}

/** What a person does to a heartbeat; `address` is its new one, while it is shown. */
function useHeartbeatChanges(name: string) {
  const words = heartbeatWords()
  const path = { name }
  const address = useSignal<string | null>(null)
  const refreshList = useListRefresh()
  const beat = () =>
    sendChange({
      words: { ...words.beat, title: words.beat.title(name) },
      send: () => call('beatHeartbeat', { path }),
      onDone: refreshList,
    })
  const rotate = () =>
    sendChange({
      words: { ...words.rotate, title: words.rotate.title(name) },
      send: () => call('rotateHeartbeat', { path }),
      onDone: ({ ping_url }) => (address.value = ping_url),
    })
  const remove = () =>
    sendChange({
      words: { ...words.remove, title: words.remove.title(name) },
      isDestructive: true,
      send: () => call('deleteHeartbeat', { path }),
      onDone: refreshList,
    })
  return { address, beat, rotate, remove }
}

function HeartbeatFacts({ heartbeat }: { readonly heartbeat: Heartbeat }) {
  const { fields, never } = heartbeatWords()
  const { severities } = alertWords()
  const { last_beat_at, missed_at, max_run_seconds, started_at, duration_seconds } = heartbeat
  return (
    <FactList
      facts={[
        [fields.last_beat_at, last_beat_at === null ? never : localTime(last_beat_at)],
        [fields.due_at, localTime(heartbeat.due_at)],
        [fields.missed_at, missed_at && localTime(missed_at)],
        [fields.every_seconds, expectation(heartbeat)],
        [fields.grace_seconds, localSeconds(heartbeat.grace_seconds)],
        [fields.max_run_seconds, max_run_seconds && localSeconds(max_run_seconds)],
        [fields.started_at, started_at && localTime(started_at)],
        [fields.duration_seconds, duration_seconds === null ? null : localSeconds(duration_seconds)],
        [fields.severity, severities[heartbeat.severity]],
        [fields.source, heartbeat.source],
      ]}
    />
  )
}

/** Whom the routes would tell if the heartbeat were missed now. */
function WhoIsNotified({ heartbeat }: { readonly heartbeat: Heartbeat }) {
  const { ifMissed } = heartbeatWords()
  const { name, severity, source } = heartbeat
  const title = `The heartbeat ${name} was missed`
  const alert = { source, severity, title, alarm_id: `heartbeat.missed:${name}` }
  const { answer } = useAnswer(() => call('explainAlertRoute', { query: alert }), [name, severity, source])
  return (
    <Section title={ifMissed}>
      <RouteAnswer answer={answer} label={ifMissed} />
    </Section>
  )
}

// The most pings that the platform keeps.
const MOST_PINGS = 100
const SHOWN = 5

/** The last pings of a heartbeat: a strip of bars, the oldest first, and what they say, the newest first. */
function HeartbeatPings({ heartbeat }: { readonly heartbeat: Heartbeat }) {
  const words = heartbeatWords()
  const { name, last_beat_at, started_at, missed_at } = heartbeat
  const { answer } = useAnswer(
    () => call('listHeartbeatPings', { path: { name }, query: { limit: MOST_PINGS } }),
    [name, last_beat_at, started_at, missed_at],
  )
  const pings = answer?.items ?? []
  return (
    <Section title={words.pings}>
      {pings.length > 0 && (
        <div class="ping-strip" aria-hidden="true">
          {pings.toReversed().map((ping) => (
            <span key={ping.at} class={`ping-bar ping-${toneOf(ping)}`} />
          ))}
        </div>
      )}
      <Timeline
        label={words.pings}
        empty={words.noPings}
        most={SHOWN}
        entries={pings.map((ping, index) => ({
          key: `${ping.at}-${index}`,
          at: ping.at,
          tone: toneOf(ping),
          title: <PingTitle ping={ping} />,
          note: ping.body === '' ? undefined : <pre class="mono">{ping.body}</pre>,
        }))}
      />
    </Section>
  )
}

function PingTitle({ ping: { kind, exit_code, duration_seconds } }: { readonly ping: Ping }) {
  const { kinds, took } = heartbeatWords()
  const title = exit_code === null ? kinds[kind] : `${kinds.exit} ${exit_code}`
  return <>{duration_seconds === null ? title : `${title} · ${took(localSeconds(duration_seconds))}`}</>
}
