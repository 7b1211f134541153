import { formatCount, formatRtt, formatShare } from '../../parts/format.ts'
import { medianRtt, type JudgedSession } from './health.ts'
import type { Pool, TunnelState } from './tunnel-state.ts'

export interface SummaryProps {
  readonly state: TunnelState
  readonly sessions: readonly JudgedSession[]
}

/** The totals, and how full the pool is. */
export function Summary({ state, sessions }: SummaryProps) {
  const users = new Set(sessions.map(({ user }) => user.id)).size
  const away = state.gateways.filter(({ isAlive }) => !isAlive).length
  const isCut = state.total > sessions.length
  return (
    <section class="summary" aria-label="Totals">
      <dl class="figures card">
        <Figure
          name="Sessions"
          value={formatCount(state.total)}
          note={isCut ? `${formatCount(sessions.length)} shown` : 'open now'}
        />
        <Figure name="Users" value={formatCount(users)} note={isCut ? 'among those shown' : 'connected'} />
        <Figure
          name="Gateways"
          value={formatCount(state.gateways.length - away)}
          note={away > 0 ? `⚠ ${away} away` : 'all up'}
          isWarning={away > 0}
        />
        <Figure name="Round trip" value={formatRtt(medianRtt(sessions))} note="median" />
      </dl>
      <PoolUse pool={state.pool} />
    </section>
  )
}

interface FigureProps {
  readonly name: string
  readonly value: string
  readonly note: string
  readonly isWarning?: boolean
}

function Figure({ name, value, note, isWarning = false }: FigureProps) {
  return (
    <div class="figure">
      <dt class="figure-name">{name}</dt>
      <dd class="figure-value">{value}</dd>
      <dd class={isWarning ? 'figure-note warning' : 'figure-note'}>{note}</dd>
    </div>
  )
}

// The alerts of the pool: at 80 % and 95 % used.
const NEARLY_FULL = 0.8
const ALMOST_EMPTY = 0.95

function PoolUse({ pool }: { readonly pool: Pool }) {
  const { cidr, size, used, cooling, free } = pool
  const share = size > 0 ? used / size : 0
  const warning = share >= ALMOST_EMPTY ? '⚠ nearly exhausted' : share >= NEARLY_FULL ? '⚠ filling up' : ''
  const words = `${formatCount(used)} of ${formatCount(size)} addresses in use, ${formatCount(cooling)} cooling down, ${formatCount(free)} free`
  return (
    <div class={share >= NEARLY_FULL ? 'pool card pool-tight' : 'pool card'}>
      <div class="pool-head">
        <h2 class="figure-name">Address pool</h2>
        <span class="mono muted">{cidr}</span>
        <span class="pool-share">
          {warning && <span class="warning">{warning} </span>}
          {formatShare(used, size)} used
        </span>
      </div>
      <svg class="pool-bar" role="img" aria-label={words} width="100%" height="10">
        <rect class="pool-free" width="100%" height="10" rx="5" />
        <PoolParts used={used} cooling={cooling} size={size} />
      </svg>
      <ul class="pool-legend" aria-hidden="true">
        <li>
          <i class="swatch swatch-used" /> {formatCount(used)} used
        </li>
        <li>
          <i class="swatch swatch-cooling" /> {formatCount(cooling)} cooling down
        </li>
        <li>
          <i class="swatch swatch-free" /> {formatCount(free)} free
        </li>
      </ul>
    </div>
  )
}

// A narrower one could not be seen.
const LEAST_PERCENT = 1.2

function PoolParts({ used, cooling, size }: Pick<Pool, 'used' | 'cooling' | 'size'>) {
  const percent = (part: number) =>
    part === 0 || size === 0 ? 0 : Math.max(LEAST_PERCENT, (part / size) * 100)
  return (
    <>
      <defs>
        <pattern
          id="stripes"
          width="6"
          height="6"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <rect class="pool-stripe-ground" width="6" height="6" />
          <rect class="pool-stripe" width="3" height="6" />
        </pattern>
      </defs>
      <rect width={`${percent(used) + percent(cooling)}%`} height="10" fill="url(#stripes)" />
      <rect class="pool-used" width={`${percent(used)}%`} height="10" />
    </>
  )
}
