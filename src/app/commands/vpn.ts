import { createVpnClient, parseGatewayAddress, type VpnEnd } from '../../../programs/vpn-client/index.ts'
import { AppError, errorMessage, invalidField } from '../../kernel/errors.ts'
import type { CommandContext } from './context.ts'
import { stopSignal } from './stop-signal.ts'
import { openTokenFile } from './token-file.ts'
import { jsonLine, textLine } from './vpn-lines.ts'

export interface VpnConnectOptions {
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
  for (const each of gateway) checkGateway(each)
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
