import { localNumber } from '../../../i18n/local.ts'
import { formatShare } from '../../../parts/format.ts'
import { poolTone } from '../../../parts/pool-tone.ts'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { Stats, type Stat } from '../../../parts/stats.tsx'
import { pictureAddress, type VpnPool } from './model.ts'
import { vpnGateways, vpnPool } from './source.ts'
import { vpnSessionWords } from './words.ts'

/** The address pool, and the gateways with the pictures of their tunnels. */
export function VpnSummary() {
  const { summary } = vpnSessionWords()
  const model = useResource(vpnPool, '')
  const gateways = useResource(vpnGateways, '').value.value?.gateways ?? []
  return (
    <ResourceView model={model}>
      {(value) => <Stats label={summary} stats={[poolStat(value), ...gateways.map(gatewayStat)]} />}
    </ResourceView>
  )
}

function poolStat(pool: VpnPool): Stat {
  const words = vpnSessionWords()
  const { cidr, size, used, cooling, free } = pool
  const tone = poolTone(pool)
  return {
    name: words.freeAddresses,
    value: localNumber(free),
    status: { tone, label: words.used(formatShare(used, size)) },
    note: <bdi>{words.poolNote(cidr, localNumber(used), localNumber(cooling))}</bdi>,
  }
}

interface Gateway {
  readonly name: string
  readonly address: string
  readonly alive: boolean
}

function gatewayStat({ name, address, alive }: Gateway): Stat {
  const { gateway, reachable, silent, picture } = vpnSessionWords()
  return {
    name: gateway(name),
    value: address,
    status: alive ? { tone: 'good', label: reachable } : { tone: 'danger', label: silent },
    note: alive && (
      <a href={pictureAddress(address, location)} target="_blank" rel="noreferrer">
        {picture}
      </a>
    ),
  }
}
