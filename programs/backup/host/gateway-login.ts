import type { WaitingClock } from '../../../src/kernel/clock.ts'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { Secret } from '../../../src/kernel/secret.ts'
import { SECOND } from '../../../src/kernel/time.ts'
import { openSession, parseGatewayAddress } from '../../vpn-client/index.ts'
import { readPrivateFile } from '../../files/private-file.ts'

const TIMEOUT_MS = 10 * SECOND
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/

export interface GatewayLogin {
  /** A base address, or the whole address that ends in `/vpn`, as `platform vpn connect` takes it. */
  readonly gatewayUrl: string
  readonly readToken: () => Secret | Promise<Secret>
  readonly clock: WaitingClock
  readonly signal?: AbortSignal | undefined
}

/** Opens a session as a client would, and closes it. Rejects with the reason when the gateway opens none. */
export async function logIn({ gatewayUrl, readToken, clock, signal }: GatewayLogin): Promise<void> {
  const gateway = parseGatewayAddress(gatewayUrl)
  const token = await readToken()
  const result = await openSession({
    gateway,
    token,
    device: undefined,
    clock,
    timeoutMs: TIMEOUT_MS,
    signal: signal ?? new AbortController().signal,
  })
  if (!('session' in result)) throw new Error(result.failure)
  await result.session.close('checked')
}

/** The JWT in a private file. Throws an error that does not quote the file. */
export function readTokenFile(path: string): Secret {
  let text: string
  try {
    text = readPrivateFile(path).trim()
  } catch (error) {
    throw new Error(`${path}: ${errorMessage(error)}`, { cause: error })
  }
  if (JWT.test(text)) return new Secret(text)
  throw new Error(`${path}: expected one JWT`)
}
