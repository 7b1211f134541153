import type { VpnEvent, VpnState } from '../../../programs/vpn-client/index.ts'

const COLOURS: Readonly<Record<VpnState, number>> = {
  connecting: 36,
  connected: 32,
  disconnected: 31,
  expiring: 33,
}
const STATE_WIDTH = 'disconnected'.length
const ADDRESS_WIDTH = '255.255.255.255'.length

export function jsonLine(event: VpnEvent): string {
  return `${JSON.stringify(event)}\n`
}

/** Lines in columns; the column of the gateway is as wide as the longest of these. */
export function textLine(gateways: readonly string[], colours: boolean): (event: VpnEvent) => string {
  const gatewayWidth = Math.max(...gateways.map((gateway) => gateway.length))
  return ({ at, state, gateway, virtual_ip: address = '', reason = '' }) => {
    const padding = ' '.repeat(STATE_WIDTH - state.length)
    const shown = colours ? `\u001b[${COLOURS[state]}m${state}\u001b[0m` : state
    const cells = [at, shown + padding, gateway.padEnd(gatewayWidth), address.padEnd(ADDRESS_WIDTH)]
    return `${[...cells, oneLine(reason)].join('  ').trimEnd()}\n`
  }
}

// The reason may be text of the gateway, which must not control the terminal.
function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ')
}
