import { localNumber } from '../../i18n/local.ts'
import { formatRtt } from '../../parts/format.ts'
import type { UserNode } from './graph.ts'
import { countByHealth, HEALTHS, medianRtt, worstHealth, type Health, type JudgedSession } from './health.ts'
import { HealthShape } from './health-mark.tsx'
import { anchorOf, fitText, widthOf } from './picture-text.ts'
import { CLUSTER_RADIUS, type Side } from './placed.ts'
import { tunnelWords } from './words.ts'

interface ClusterPlace {
  readonly side: Side
  readonly laneWidth: number
}

/** A user among many, with their sessions around their number. */
export function UserCluster({ user, ...place }: ClusterPlace & { readonly user: UserNode }) {
  const { name, sessions } = user
  return <Cluster name={name} note={formatRtt(medianRtt(sessions))} sessions={sessions} {...place} />
}

/** The users who are not drawn. */
export function MoreCluster({ users, ...place }: ClusterPlace & { readonly users: readonly UserNode[] }) {
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

// Size of the text of a note to that of a name.
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

/** How many do worst, when that is worth a look. */
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
