import { styleText } from 'node:util'
import { readFileSync, type Stats } from 'node:fs'
import { resolve } from 'node:path'
import {
  createVpnClient,
  parseGatewayAddress,
  type VpnEnd,
  type VpnEvent,
  type VpnState,
} from '../../../programs/vpn-client/index.ts'
import { withFile } from '../../config/private-file.ts'
import { AppError, errorMessage, invalidField } from '../../kernel/errors.ts'
import { Secret } from '../../kernel/secret.ts'
import { type CommandContext, stopSignal } from './context.ts'

interface VpnConnectOptions {
  readonly gateway: readonly string[]
  readonly tokenFile: string
  readonly device?: string
  readonly failback: boolean
  readonly json?: boolean
}

// docs/specification.md, Gateway
const DEVICE = /^[A-Za-z0-9._-]{1,64}$/

/** `platform vpn connect`: keeps a session until a signal, an operator or another client of the device ends it. */
export async function connectVpn(context: CommandContext, options: VpnConnectOptions): Promise<void> {
  checkOptions(options)
  const tokenFile = openTokenFile(options.tokenFile, context.cwd)
  if (tokenFile.warning) context.stderr.write(`platform: --token-file: ${tokenFile.warning}\n`)

  const toLine = options.json ? jsonLine : textLine(options.gateway, context.stdout.isTTY === true)
  const client = createVpnClient({
    gateways: options.gateway,
    readToken: tokenFile.read,
    device: options.device,
    failback: options.failback,
    onState: (event) => context.stdout.write(toLine(event)),
  })
  // The reader of standard output has closed it (EPIPE), and there is no one to report to. Each line after it fails, too.
  context.stdout.on('error', () => void client.stop())
  void stopSignal().then(() => client.stop())
  reportEnd(await client.ended)
}

function checkOptions({ gateway, device }: VpnConnectOptions): void {
  for (const url of gateway) checkGateway(url)
  if (device !== undefined && !DEVICE.test(device)) {
    throw invalidField('--device', 'invalid', { reason: 'must be 1 to 64 of A-Z a-z 0-9 . _ -' })
  }
}

function checkGateway(text: string): void {
  try {
    parseGatewayAddress(text)
  } catch (error) {
    throw invalidField('--gateway', 'invalid', { reason: errorMessage(error) })
  }
}

function reportEnd({ code, reason }: VpnEnd): void {
  if (code === 1000) return
  throw new AppError('forbidden', 'session_ended', `The gateway ended the session permanently: ${reason}.`)
}

const READABLE_BY_OTHERS = 0o044

// docs/specification.md, Gateway: a token is at most 8 KiB
const MAX_BYTES = 16 * 1_024

interface TokenFile {
  /** Reads the current token; throws an error without the file's content when there is none. */
  read(): Secret
  /** A problem with the file's permissions that its owner should fix. */
  readonly warning: string | undefined
}

/** Opens a file that contains only a token. Throws `invalid` when it has none. */
function openTokenFile(name: string, cwd: string): TokenFile {
  const path = resolve(cwd, name)
  const read = () => withFile(path, (file, stats) => tokenIn(name, file, stats))
  try {
    read()
    return { read, warning: withFile(path, (_file, stats) => exposure(name, stats)) }
  } catch (error) {
    throw invalidField('--token-file', 'invalid', { reason: errorMessage(error) })
  }
}

function tokenIn(name: string, file: number, stats: Stats): Secret {
  // The token is read again at each connection: a pipe can be read only once, a device may never end.
  if (!stats.isFile()) throw new Error(`${JSON.stringify(name)} is not a regular file`)
  if (stats.size > MAX_BYTES) throw new Error(`${JSON.stringify(name)} is larger than ${MAX_BYTES} bytes`)
  const token = readFileSync(file, 'utf8').trim()
  if (token === '') throw new Error(`${JSON.stringify(name)} is empty; write a token into it`)
  return new Secret(token)
}

function exposure(name: string, { mode }: Stats): string | undefined {
  if ((mode & READABLE_BY_OTHERS) === 0) return undefined
  return `${JSON.stringify(name)} can be read by other users; run chmod 600 on it`
}

const STYLES = {
  connecting: 'cyan',
  connected: 'green',
  disconnected: 'red',
  expiring: 'yellow',
} as const satisfies Readonly<Record<VpnState, string>>
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
    const stateText = colours ? styleText(STYLES[state], state, { validateStream: false }) : state
    const cells = [at, stateText + padding, gateway.padEnd(gatewayWidth), address.padEnd(ADDRESS_WIDTH)]
    return `${[...cells, oneLine(reason)].join('  ').trimEnd()}\n`
  }
}

// The reason may be text of the gateway, which must not control the terminal.
function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ')
}
