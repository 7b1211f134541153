import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { localSeconds } from '../../../i18n/local.ts'
import { reportFailure } from '../../../parts/report-failure.ts'
import { Section } from '../../../parts/section.tsx'
import { Timeline } from '../../../parts/timeline.tsx'
import { call } from '../platform.ts'
import { toneOf, type Heartbeat, type Ping } from './model.ts'
import { heartbeatWords } from './words.ts'

// The platform keeps as many.
const MOST = 100
const SHOWN = 5

/** The last pings of a heartbeat: a strip of bars, the oldest first, and what they say, the newest first. */
export function HeartbeatPings({ heartbeat }: { readonly heartbeat: Heartbeat }) {
  const words = heartbeatWords()
  const pings = useSignal<readonly Ping[]>([])
  const { name, last_beat_at, started_at, missed_at } = heartbeat
  const read = async () => {
    const result = await call('listHeartbeatPings', { path: { name }, query: { limit: MOST } })
    if (result.ok) pings.value = result.value.items
    else reportFailure(result.failure)
  }
  useEffect(() => void read(), [name, last_beat_at, started_at, missed_at])
  return (
    <Section title={words.pings}>
      <div class="ping-strip" aria-hidden="true">
        {pings.value.toReversed().map((ping) => (
          <span key={ping.at} class={`ping-bar ping-${toneOf(ping)}`} />
        ))}
      </div>
      <Timeline
        label={words.pings}
        empty={words.noPings}
        most={SHOWN}
        entries={pings.value.map((ping, index) => ({
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
