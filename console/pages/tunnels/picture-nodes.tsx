import { localNumber } from '../../i18n/local.ts'
import { formatDuration, formatRtt } from '../../parts/format.ts'
import type { Frame } from './frame.ts'
import type { GatewayNode, UserNode } from './graph.ts'
import { HealthShape } from './health-mark.tsx'
import { countByHealth, HEALTHS, medianRtt, worstHealth, type JudgedSession, type Health } from './health.ts'
import { anchorOf, fitText, widthOf } from './picture-text.ts'
import { CLUSTER_RADIUS, type PlacedNode, type Side } from './placed.ts'
import type { Gateway } from './tunnel-state.ts'
import { tunnelWords } from './words.ts'

export interface NodeShapeProps {
  readonly node: PlacedNode
  readonly frame: Frame
  readonly at: number
}

/** A node as it looks, around its own place. */
export function NodeShape({ node, frame, at }: NodeShapeProps) {
  switch (node.kind) {
    case 'gateway':
      return <Hub node={node.node} frame={frame} at={at} />
    case 'user':
      return node.form === 'box' ? (
        <UserBox user={node.node} side={node.side} width={frame.userWidth} />
      ) : (
        <UserCluster user={node.node} side={node.side} laneWidth={frame.laneWidth} />
      )
    case 'session':
      return <Address session={node.session} side={node.side} frame={frame} />
    case 'more':
      return <MoreCluster users={node.users} side={node.side} laneWidth={frame.laneWidth} />
    case 'rest':
      return <Rest count={node.sessions.length} side={node.side} frame={frame} />
  }
}

interface HubProps {
  readonly node: GatewayNode
  readonly frame: Frame
  readonly at: number
}

function Hub({ node, frame, at }: HubProps) {
  const { width, height } = frame.hub
  const left = frame.sides === 2 ? -width / 2 : -frame.hub.x
  const { gateway, sessions } = node
  const note = gateway.isAlive ? tunnelWords().someSessions(sessions.length) : awayNote(gateway, at)
  return (
    <g class={gateway.isAlive ? 'hub' : 'hub hub-away'}>
      <rect class="hub-box" x={left} y={-height / 2} width={width} height={height} rx="12" />
      <g transform={`translate(${left + 22} 0)`} class="hub-icon">
        <rect x="-9" y="-11" width="18" height="9" rx="2.5" />
        <rect x="-9" y="2" width="18" height="9" rx="2.5" />
        <path d="M-5 -6.5H-4.9M-5 6.5H-4.9M0 -6.5H5M0 6.5H5" />
      </g>
      <text class="hub-name" x={left + 40} y="-4">
        {fitText(gateway.name, width - 46)}
      </text>
      <text class="hub-note" x={left + 40} y="14">
        {note}
      </text>
    </g>
  )
}

function awayNote({ lastSeenAt }: Gateway, at: number): string {
  const { away, awayShort } = tunnelWords()
  return `⚠ ${lastSeenAt > 0 ? awayShort(formatDuration(at - lastSeenAt)) : away}`
}

interface UserBoxProps {
  readonly user: UserNode
  readonly side: Side
  readonly width: number
}

const BOX_HEIGHT = 28

function UserBox({ user, side, width }: UserBoxProps) {
  const count = localNumber(user.sessions.length)
  const badge = 12 + count.length * 7
  const left = side === 1 ? 0 : -width
  return (
    <g class="user">
      <rect
        class="user-box"
        x={left}
        y={-BOX_HEIGHT / 2}
        width={width}
        height={BOX_HEIGHT}
        rx={BOX_HEIGHT / 2}
      />
      <text class="user-name" x={left + 13} dy="0.36em">
        {fitText(user.name, width - 24 - badge)}
      </text>
      <rect class="user-badge" x={left + width - badge - 6} y="-8" width={badge} height="16" rx="8" />
      <text class="user-count" x={left + width - badge / 2 - 6} dy="0.36em" text-anchor="middle">
        {count}
      </text>
    </g>
  )
}

interface AddressProps {
  readonly session: JudgedSession
  readonly side: Side
  readonly frame: Frame
}

function Address({ session, side, frame }: AddressProps) {
  const time = frame.hasRoomOnLine ? '' : formatRtt(session.rttMs)
  const note = [time, session.device ?? ''].filter(Boolean).join(' · ')
  return (
    <g class="address">
      <AddressGround side={side} frame={frame} />
      <HealthShape health={session.health} />
      <text class="address-ip" x={side * 13} y={note ? -3 : 4} text-anchor={anchorOf(side)}>
        {session.virtualIp}
      </text>
      {note && (
        <text class="node-note" x={side * 13} y="12" text-anchor={anchorOf(side)}>
          {fitText(note, frame.addressWidth + 4)}
        </text>
      )}
    </g>
  )
}

function AddressGround({ side, frame }: Pick<AddressProps, 'side' | 'frame'>) {
  const width = frame.addressWidth + 30
  return <rect class="hit" x={side === 1 ? -12 : 12 - width} y="-17" width={width} height="34" rx="8" />
}

function Rest({ count, side, frame }: Omit<AddressProps, 'session'> & { readonly count: number }) {
  return (
    <g class="address">
      <AddressGround side={side} frame={frame} />
      <path class="dots" d="M-4 0H-3.9M0 0H0.1M4 0H4.1" />
      <text class="node-note" x={side * 13} dy="0.36em" text-anchor={anchorOf(side)}>
        {tunnelWords().more(localNumber(count))}
      </text>
    </g>
  )
}

interface ClusterPlace {
  readonly side: Side
  readonly laneWidth: number
}

/** A user among many, with their sessions around their number. */
function UserCluster({ user, ...place }: ClusterPlace & { readonly user: UserNode }) {
  const { name, sessions } = user
  return <Cluster name={name} note={formatRtt(medianRtt(sessions))} sessions={sessions} {...place} />
}

/** The users who are not drawn. */
function MoreCluster({ users, ...place }: ClusterPlace & { readonly users: readonly UserNode[] }) {
  const sessions = users.flatMap((user) => user.sessions)
  const note = tunnelWords().someSessions(sessions.length)
  return (
    <Cluster
      name={tunnelWords().more(localNumber(users.length))}
      note={note}
      sessions={sessions}
      {...place}
    />
  )
}

interface ClusterProps extends ClusterPlace {
  readonly name: string
  readonly note: string
  readonly sessions: readonly JudgedSession[]
}

// The size of the text of a note, relative to that of a name.
const NOTE_SCALE = 0.88

/** A petal for each address, up to a dozen; beyond that the petals show the shares. */
function Cluster({ name, note, sessions, side, laneWidth }: ClusterProps) {
  const text = side * (CLUSTER_RADIUS + 6)
  const hit = {
    x: side === 1 ? -CLUSTER_RADIUS - 1 : CLUSTER_RADIUS + 1 - (laneWidth - 4),
    width: laneWidth - 4,
  }
  return (
    <g class="cluster">
      <rect class="hit" x={hit.x} y="-16" width={hit.width} height="32" rx="8" />
      {petals(sessions).map((health, index, { length }) => (
        <Petal key={index} health={health} turn={index / length} />
      ))}
      <circle class="cluster-core" r="8" />
      <text
        class={sessions.length > 99 ? 'cluster-count many' : 'cluster-count'}
        dy="0.36em"
        text-anchor="middle"
      >
        {sessions.length > 99 ? '99+' : sessions.length}
      </text>
      <text class="cluster-name" x={text} y="-2" text-anchor={anchorOf(side)}>
        {fitText(name, laneWidth - 2 * CLUSTER_RADIUS - 14)}
      </text>
      <text class="node-note" x={text} y="12" text-anchor={anchorOf(side)}>
        {note}
      </text>
      <Worst sessions={sessions} at={text + side * (widthOf(note) * NOTE_SCALE + 12)} side={side} />
    </g>
  )
}

interface WorstProps {
  readonly sessions: readonly JudgedSession[]
  readonly at: number
  readonly side: Side
}

/** The number of sessions with the worst health, unless all are fast. */
function Worst({ sessions, at, side }: WorstProps) {
  const worst = worstHealth(sessions)
  if (worst === 'fast') return null
  return (
    <>
      <g transform={`translate(${at} 8.5)`}>
        <HealthShape health={worst} scale={0.62} />
      </g>
      <text class="node-note" x={at + side * 7} y="12" text-anchor={anchorOf(side)}>
        {countByHealth(sessions)[worst]}
      </text>
    </>
  )
}

const MOST_PETALS = 12

function petals(sessions: readonly JudgedSession[]): Health[] {
  const healths = sessions.map(({ health }) => health).sort((a, b) => HEALTHS.indexOf(a) - HEALTHS.indexOf(b))
  if (healths.length <= MOST_PETALS) return healths
  return Array.from(
    { length: MOST_PETALS },
    (_, index) => healths[Math.floor((index * healths.length) / MOST_PETALS)] ?? 'fast',
  )
}

function Petal({ health, turn }: { readonly health: Health; readonly turn: number }) {
  const angle = turn * 2 * Math.PI - Math.PI / 2
  const x = Math.cos(angle) * 11.4
  const y = Math.sin(angle) * 11.4
  return <circle class={`petal petal-${health}`} cx={x.toFixed(2)} cy={y.toFixed(2)} r="2.3" />
}
