import { localNumber } from '../../i18n/local.ts'
import { formatRtt, formatShare } from '../../parts/format.ts'
import { poolTone } from '../../parts/pool-tone.ts'
import { Stats, type Stat } from '../../parts/stats.tsx'
import { medianRtt, type JudgedSession } from './health.ts'
import type { Gateway, Pool, TunnelState } from './tunnel-state.ts'
import { tunnelWords } from './words.ts'

export interface SummaryProps {
  readonly state: TunnelState
  readonly sessions: readonly JudgedSession[]
}

/** The totals, and how full the pool is. */
export function Summary({ state, sessions }: SummaryProps) {
  const words = tunnelWords()
  const users = new Set(sessions.map(({ user }) => user.id)).size
  const isCut = state.total > sessions.length
  return (
    <Stats
      label={words.totals}
      stats={[
        {
          name: words.sessions,
          value: localNumber(state.total),
          note: isCut ? words.shown(localNumber(sessions.length)) : words.openNow,
        },
        {
          name: words.users,
          value: localNumber(users),
          note: isCut ? words.amongShown : words.connectedUsers,
        },
        gatewayStat(state.gateways),
        { name: words.roundTrip, value: formatRtt(medianRtt(sessions)), note: words.median },
        poolStat(state.pool),
      ]}
    />
  )
}

function gatewayStat(gateways: readonly Gateway[]): Stat {
  const words = tunnelWords()
  const away = gateways.filter(({ isAlive }) => !isAlive).length
  return {
    name: words.gateways,
    value: localNumber(gateways.length - away),
    status:
      away > 0
        ? { tone: 'warning', label: words.gatewaysAway(localNumber(away)) }
        : { tone: 'good', label: words.allUp },
  }
}

function poolStat(pool: Pool): Stat {
  const words = tunnelWords()
  const tone = poolTone(pool)
  return {
    name: words.pool(pool.cidr),
    value: words.used(formatShare(pool.used, pool.size)),
    ...(tone !== 'good' && { status: { tone, label: words.poolWarnings[tone] } }),
    note: <PoolUse pool={pool} />,
  }
}

function PoolUse({ pool: { size, used, cooling, free } }: { readonly pool: Pool }) {
  const words = tunnelWords()
  return (
    <>
      <svg
        class="pool-bar"
        role="img"
        aria-label={words.poolUse(
          localNumber(used),
          localNumber(size),
          localNumber(cooling),
          localNumber(free),
        )}
        width="100%"
        height="10"
      >
        <rect class="pool-free" width="100%" height="10" rx="5" />
        <PoolParts used={used} cooling={cooling} size={size} />
      </svg>
      <span class="pool-legend" aria-hidden="true">
        <span>
          <i class="swatch swatch-used" /> {words.used(localNumber(used))}
        </span>
        <span>
          <i class="swatch swatch-cooling" /> {words.cooling(localNumber(cooling))}
        </span>
        <span>
          <i class="swatch swatch-free" /> {words.free(localNumber(free))}
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
