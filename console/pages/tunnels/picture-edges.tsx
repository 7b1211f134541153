import { formatRtt } from '../../parts/format.ts'
import type { PlacedEdge } from './placed.ts'
import type { Present } from './presence.ts'

interface EdgeProps {
  readonly edge: PlacedEdge
  readonly phase: Present<PlacedEdge>['phase']
  readonly isFaint: boolean
}

function EdgeLine({ edge, phase, isFaint }: EdgeProps) {
  const classes = `edge edge-${edge.health} ${phase}${isFaint ? ' faint' : ''}`
  return <path class={classes} d={edge.path} stroke-width={thickness(edge.sessions)} />
}

/** By the logarithm: a hundred sessions are not to look a hundred times as important as one. */
function thickness(sessions: number): number {
  return Math.min(4, 1.4 + 0.4 * Math.log2(Math.max(1, sessions)))
}

interface EdgeTimeProps extends EdgeProps {
  readonly label: NonNullable<PlacedEdge['label']>
}

function EdgeTime({ edge, label, phase, isFaint }: EdgeTimeProps) {
  return (
    <text
      class={`edge-time edge-time-${edge.health} ${phase}${isFaint ? ' faint' : ''}`}
      style={{ transform: `translate(${label.x}px, ${label.y}px)` }}
      text-anchor="middle"
      dy="0.35em"
    >
      {formatRtt(label.rttMs)}
    </text>
  )
}

interface EdgesProps {
  readonly edges: readonly Present<PlacedEdge>[]
  readonly isFaint: (key: string) => boolean
}

/** All lines, and the round-trip times on top of them. */
export function Edges({ edges, isFaint }: EdgesProps) {
  return (
    <g aria-hidden="true">
      {edges.map(({ key, value, phase }) => (
        <EdgeLine key={key} edge={value} phase={phase} isFaint={isFaint(value.to) || isFaint(value.from)} />
      ))}
      {edges.map(({ key, value, phase }) =>
        value.label ? (
          <EdgeTime key={key} edge={value} label={value.label} phase={phase} isFaint={isFaint(value.to)} />
        ) : null,
      )}
    </g>
  )
}
