import { localNumber } from '../../i18n/local.ts'
import { FactList } from '../../parts/facts.tsx'
import { formatDuration, formatRtt } from '../../parts/format.ts'
import { worstHealth, type JudgedSession } from './health.ts'
import { HealthMark } from './health-mark.tsx'
import type { Layout, PlacedNode } from './placed.ts'
import { describeGateway, describeHealth, describeHealths } from './describe.ts'
import { tunnelWords } from './words.ts'

export interface DetailsProps {
  readonly node: PlacedNode
  readonly layout: Layout
  readonly at: number
}

const WIDTH = 264
const DISTANCE = 24

/** More about the node that is pointed at or has the focus; the node's own label has the same words for a screen reader. */
export function Details({ node, layout, at }: DetailsProps) {
  return (
    <div class="details" style={placeBeside(node, layout)} aria-hidden="true">
      <Content node={node} at={at} />
    </div>
  )
}

/** Below the node, or above it in the lower half; never beyond the edge. */
function placeBeside({ x, y }: PlacedNode, { frame, height }: Layout) {
  const left = `${Math.round(Math.max(0, Math.min(x - WIDTH / 2, frame.width - WIDTH)))}px`
  const isLow = y > height / 2
  return isLow
    ? { left, bottom: `${Math.round(height - y + DISTANCE)}px` }
    : { left, top: `${Math.round(y + DISTANCE)}px` }
}

function Content({ node, at }: { readonly node: PlacedNode; readonly at: number }) {
  const words = tunnelWords()
  switch (node.kind) {
    case 'gateway':
      return (
        <>
          <strong>{node.node.gateway.name}</strong>
          <FactList
            facts={[
              [words.address, node.node.gateway.address || words.unknown],
              [words.state, describeGateway(node.node.gateway, at)],
              [words.users, localNumber(node.node.users.length)],
            ]}
          />
          <p>{describeHealths(node.node.sessions)}</p>
        </>
      )
    case 'user':
      return (
        <>
          <strong>{node.node.name}</strong>
          <SessionList sessions={node.node.sessions} />
        </>
      )
    case 'session':
      return <SessionFacts session={node.session} at={at} />
    case 'more':
      return (
        <>
          <strong>{words.moreUsers(node.users.length)}</strong>
          <p>{describeHealths(node.users.flatMap(({ sessions }) => sessions))}</p>
          <p>{words.pressToDraw}</p>
        </>
      )
    case 'rest':
      return (
        <>
          <p>{describeHealths(node.sessions)}</p>
          <p>{words.tableHasAll}</p>
        </>
      )
  }
}

const MOST_LISTED = 6

function SessionList({ sessions }: { readonly sessions: readonly JudgedSession[] }) {
  const others = sessions.slice(MOST_LISTED)
  return (
    <ul class="details-list">
      {sessions.slice(0, MOST_LISTED).map((session) => (
        <li key={session.id}>
          <HealthMark health={session.health} />
          <span class="mono">{session.virtualIp}</span>
          <span class="details-device">{session.device}</span>
          <span class="details-time">{formatRtt(session.rttMs)}</span>
        </li>
      ))}
      {others.length > 0 && (
        <li class="muted">
          <HealthMark health={worstHealth(others)} /> {tunnelWords().andMore(localNumber(others.length))}
        </li>
      )}
    </ul>
  )
}

function SessionFacts({ session, at }: { readonly session: JudgedSession; readonly at: number }) {
  const words = tunnelWords()
  return (
    <>
      <strong class="mono">{session.virtualIp}</strong>
      <FactList
        facts={[
          [words.user, session.user.name],
          [words.device, session.device ?? words.noDevice],
          [words.from, session.remoteAddress || words.unknown],
          [words.roundTrip, `${formatRtt(session.rttMs)}, ${describeHealth(session.health)}`],
          [words.connected, words.ago(formatDuration(at - session.connectedAt))],
          [words.lastHeard, words.ago(formatDuration(at - session.lastSeenAt))],
        ]}
      />
    </>
  )
}
