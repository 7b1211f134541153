import type { WaitingClock } from '../../../src/kernel/clock.ts'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { DAY, SECOND } from '../../../src/kernel/time.ts'
import { expiryOf } from '../../vpn-client/index.ts'
import { logIn, readTokenFile } from './gateway-login.ts'
import { readItems, type PlatformReader } from './platform-reader.ts'

/** The answer of a gate: the reboot may pass, the gate does not apply here, or it holds the reboot back. */
export type GateAnswer =
  | { readonly state: 'open'; readonly reason?: string }
  | { readonly state: 'skipped' | 'closed'; readonly reason: string }

/** A condition of the reboot. A check that rejects holds the reboot back, too: the gate could not be asked. */
export interface RebootGate {
  readonly name: string
  check(): Promise<GateAnswer>
}

/** The gate that holds the reboot back. */
export interface ClosedGate {
  readonly gate: string
  readonly reason: string
}

export interface RebootGateDeps {
  readonly clock: WaitingClock
  readonly platform: PlatformReader
  /** Address of the platform's API. */
  readonly platformApi: string
  /** Whether the backup of this night is verified. */
  readonly isVerified: () => boolean
  /** The local date, such as `2026-01-31`. */
  readonly today: () => string
  /** The local date of the last reboot by this routine. */
  readonly rebootedOn: () => string | undefined
  /** The gateway that takes the clients meanwhile. */
  readonly standby?: StandbyGateway | undefined
  readonly signal?: AbortSignal | undefined
}

export interface StandbyGateway {
  readonly gatewayUrl: string
  readonly tokenFile: string
}

// Tokens are valid for 30 days at most; a person has this time to replace one.
const EXPIRES_SOON_MS = 7 * DAY

const OPEN = { state: 'open' } as const
const closedAnswer = (reason: string): GateAnswer => ({ state: 'closed', reason })

// An alert that is acknowledged or frozen has not recovered.
const UNRECOVERED = ['firing', 'acknowledged', 'frozen']

/** The gates in the order in which they are asked (docs/specification.md, Nightly backup). */
export function rebootGates(deps: RebootGateDeps): RebootGate[] {
  const { platform, platformApi, isVerified, today, rebootedOn } = deps
  const itemsAt = (path: string) => readItems(platform, `${platformApi}${path}`)
  return [
    {
      name: 'verified',
      check: async () => (isVerified() ? OPEN : closedAnswer('the backup of this night is not verified')),
    },
    {
      name: 'no critical alert fires',
      async check() {
        for (const status of UNRECOVERED) {
          const [alert] = await itemsAt(`/alerts?level=CRITICAL&status=${status}&limit=1`)
          if (alert)
            return closedAnswer(`the critical alert ${nameOf(alert['alarm_id'] ?? alert['id'])} is ${status}`)
        }
        return OPEN
      },
    },
    {
      name: 'no command is running',
      async check() {
        const [execution] = await itemsAt('/commands/executions?status=running&limit=1')
        return execution ? closedAnswer(`the command ${nameOf(execution['command_id'])} is running`) : OPEN
      },
    },
    {
      name: 'no data backup is running',
      async check() {
        const backups = await itemsAt('/data/backups?limit=100')
        const running = backups.find(({ status }) => status === 'running')
        return running ? closedAnswer(`the data backup ${nameOf(running['id'])} is running`) : OPEN
      },
    },
    {
      name: 'not rebooted today',
      check: async () =>
        rebootedOn() === today() ? closedAnswer(`this routine has rebooted on ${today()} already`) : OPEN,
    },
    { name: 'the standby gateway answers a real login', check: () => checkStandby(deps) },
  ]
}

async function checkStandby({ standby, clock, signal }: RebootGateDeps): Promise<GateAnswer> {
  if (!standby) return { state: 'skipped', reason: 'no standby gateway is configured' }
  const { gatewayUrl, tokenFile } = standby
  const token = readTokenFile(tokenFile)
  const expiresInMs = (expiryOf(token) ?? Number.POSITIVE_INFINITY) * SECOND - clock.now()
  const advice = expiresInMs < EXPIRES_SOON_MS ? expiryAdvice(tokenFile, expiresInMs) : undefined
  try {
    await logIn({ gatewayUrl, readToken: () => token, clock, signal })
  } catch (error) {
    throw advice === undefined ? error : new Error(`${errorMessage(error)}; ${advice}`, { cause: error })
  }
  return advice === undefined ? OPEN : { ...OPEN, reason: advice }
}

function expiryAdvice(path: string, expiresInMs: number): string {
  const days = Math.floor(expiresInMs / DAY)
  const state = expiresInMs <= 0 ? 'has expired' : `expires in less than ${days + 1} d`
  return `the token of ${path} ${state}: write a new one (platform token issue)`
}

/**
 * Asks the gates in their order, up to the first one that holds the reboot back. `onAnswer` is called for each gate that
 * was asked. Never rejects.
 */
export async function firstClosedGate(
  gates: readonly RebootGate[],
  onAnswer: (gate: string, answer: GateAnswer) => void = () => undefined,
): Promise<ClosedGate | undefined> {
  for (const { name, check } of gates) {
    const answer = await check().catch((error: unknown) =>
      closedAnswer(`could not be asked: ${errorMessage(error)}`),
    )
    onAnswer(name, answer)
    if (answer.state === 'closed') return { gate: name, reason: answer.reason }
  }
  return undefined
}

function nameOf(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : 'without a name'
}
