import { formatCount, formatRtt, formatShare } from '../../parts/format.ts'
import { poolTone } from '../../parts/pool-tone.ts'
import { Stats, type Stat } from '../../parts/stats.tsx'
import { medianRtt, type JudgedSession } from './health.ts'
import type { Gateway, Pool, TunnelState } from './tunnel-state.ts'

export interface SummaryProps {
  readonly state: TunnelState
  readonly sessions: readonly JudgedSession[]
}

/** The totals, and how full the pool is. */
export function Summary({ state, sessions }: SummaryProps) {
  const users = new Set(sessions.map(({ user }) => user.id)).size
  const isCut = state.total > sessions.length
  return (
    <Stats
      label="Totals"
      stats={[
        {
          name: 'Sessions',
          value: formatCount(state.total),
          note: isCut ? `${formatCount(sessions.length)} shown` : 'open now',
        },
        { name: 'Users', value: formatCount(users), note: isCut ? 'among those shown' : 'connected' },
        gatewayStat(state.gateways),
        { name: 'Round trip', value: formatRtt(medianRtt(sessions)), note: 'median' },
        poolStat(state.pool),
      ]}
    />
  )
}

function gatewayStat(gateways: readonly Gateway[]): Stat {
  const away = gateways.filter(({ isAlive }) => !isAlive).length
  return {
    name: 'Gateways',
    value: formatCount(gateways.length - away),
    status: away > 0 ? { tone: 'warning', label: `${away} away` } : { tone: 'good', label: 'all up' },
  }
}

const POOL_WARNINGS = { warning: 'filling up', danger: 'nearly exhausted' }

function poolStat(pool: Pool): Stat {
  const tone = poolTone(pool)
  return {
    name: `Address pool ${pool.cidr}`,
    value: `${formatShare(pool.used, pool.size)} used`,
    ...(tone !== 'good' && { status: { tone, label: POOL_WARNINGS[tone] } }),
    note: <PoolUse pool={pool} />,
  }
}

function PoolUse({ pool: { size, used, cooling, free } }: { readonly pool: Pool }) {
  const words = `${formatCount(used)} of ${formatCount(size)} addresses in use, ${formatCount(cooling)} cooling down, ${formatCount(free)} free`
  return (
    <>
      <svg class="pool-bar" role="img" aria-label={words} width="100%" height="10">
        <rect class="pool-free" width="100%" height="10" rx="5" />
        <PoolParts used={used} cooling={cooling} size={size} />
      </svg>
      <span class="pool-legend" aria-hidden="true">
        <span>
          <i class="swatch swatch-used" /> {formatCount(used)} used
        </span>
        <span>
          <i class="swatch swatch-cooling" /> {formatCount(cooling)} cooling down
        </span>
        <span>
          <i class="swatch swatch-free" /> {formatCount(free)} free
        </span>
      </span>
    </>
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
