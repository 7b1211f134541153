import { readdirSync, readFileSync } from 'node:fs'
import type { Cluster } from '../../support/hosts/cluster.ts'
import { processesOf, type Host } from '../../support/hosts/network.ts'

/** What the processes of the platform hold. */
export interface Usage {
  /** Memory of the largest process. */
  readonly megabytes: number
  /** Open files of the process with the most. */
  readonly openFiles: number
  /** Connections to PostgreSQL, from all processes. */
  readonly connections: number
}

export async function measureUsage({ apis, gateways, workers, postgres }: Cluster): Promise<Usage> {
  const processes = [...apis, ...gateways, ...workers].flatMap(usageOfHost)
  const [row] = await postgres.rows(`select count(*) from pg_stat_activity where datname = 'platform'`)
  return {
    megabytes: Math.max(...processes.map(({ megabytes }) => megabytes)),
    openFiles: Math.max(...processes.map(({ openFiles }) => openFiles)),
    connections: Number(row?.['count']),
  }
}

function usageOfHost(host: Host): Pick<Usage, 'megabytes' | 'openFiles'>[] {
  return processesOf(host).map((id) => {
    const [, kibibytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, 'utf8')) ?? []
    return { megabytes: Number(kibibytes) / 1_024, openFiles: readdirSync(`/proc/${id}/fd`).length }
  })
}
