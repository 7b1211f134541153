import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import { peerAddress } from '../http/client-address.ts'
import { toAppError } from '../http/errors.ts'
import type { UpgradeRequest } from '../http/upgrades.ts'
import { createConnectionRate } from './connection-rate.ts'
import { deviceOf, requireOwnOrigin, requireWebSocket, tokenOf } from './handshake.ts'
import type { Authenticator, TokenHolder } from '../../ports/authenticator.ts'
import { requireRole } from './holders.ts'
import type { Records, SessionFields } from './records.ts'
import type { RegisteredSession, SessionRegistry } from '../../ports/session-registry.ts'
import { createTogether } from './together.ts'

export interface AdmissionDeps {
  readonly registry: Pick<SessionRegistry, 'register' | 'refused'>
  readonly authenticator: Pick<Authenticator, 'holder'>
  readonly clock: Clock
  readonly logger: Logger
  readonly records: Records
  /** Of one address. */
  readonly connectionsPerSecond: number
  readonly connectionBurst: number
  /** Without sessions: nothing could be written down. */
  readonly readOnly: boolean
  readonly isStopping: () => boolean
}

/** A session that is registered and has no connection yet. */
export interface Admitted {
  readonly registered: RegisteredSession
  readonly holder: TokenHolder
  readonly fields: SessionFields
}

/** Judges requests for a session. */
export interface Admission {
  /** Registers the session, or answers why there is none; undefined then. Never rejects. */
  admit(upgrade: UpgradeRequest): Promise<Admitted | undefined>
  /** Answers that there is no session, and writes it down. */
  refuse(upgrade: UpgradeRequest, error: AppError, userId?: string): void
}

// Somebody who is turned away again and again must not make the database write faster than it can.
const NOTES_UNDER_WAY = 64
// Whoever comes alone waits no longer than a handshake takes, and one of a crowd no longer than a look at it.
const CROWD = { pauseMs: 3, pauses: 8 }

export function createAdmission(deps: AdmissionDeps): Admission {
  const { registry, authenticator, clock, logger, records } = deps
  const rate = createConnectionRate({
    clock,
    perSecond: deps.connectionsPerSecond,
    burst: deps.connectionBurst,
  })
  const together = createTogether(CROWD)
  let notesUnderWay = 0

  const requireOpen = () => {
    if (deps.readOnly) throw readOnly()
    if (deps.isStopping()) throw stopping()
  }

  const requireRate = (request: IncomingMessage) => {
    const waitSeconds = rate.take(peerAddress(request))
    if (waitSeconds !== undefined) throw tooManyConnections(waitSeconds)
  }

  /** What needs no token, cheapest first. */
  const checks = [requireOpen, requireRate, requireWebSocket, requireOwnOrigin]

  const register = async ({ request, requestId }: UpgradeRequest, holder: TokenHolder): Promise<Admitted> => {
    requireRole(holder)
    const { identity, generation, issuedAt } = holder
    const device = deviceOf(request.url ?? '')
    const remoteAddress = peerAddress(request)
    await together()
    const registered = await registry.register({
      user: { id: identity.id, name: identity.name },
      token: { generation, issuedAt },
      device,
      remoteAddress,
    })
    const fields = {
      session_id: registered.id,
      user_id: identity.id,
      device: device ?? null,
      virtual_ip: registered.virtualIp,
      remote_address: remoteAddress,
      request_id: requestId,
    }
    return { registered, holder, fields }
  }

  const note = (remoteAddress: string, userId: string | undefined, reason: string) => {
    if (notesUnderWay >= NOTES_UNDER_WAY) return
    notesUnderWay++
    registry
      .refused({ remoteAddress, userId, reason })
      .catch((error: unknown) => logger.warn({ error }, 'a refusal is missing in the audit trail'))
      .finally(() => notesUnderWay--)
  }

  const refuse = ({ request, requestId, ...upgrade }: UpgradeRequest, error: AppError, userId?: string) => {
    const { code, message: reason, kind } = error
    const remoteAddress = peerAddress(request)
    if (kind === 'internal')
      logger.error({ request_id: requestId, error: error.cause }, 'a session failed to open')
    records.refused({ code, reason, remote_address: remoteAddress, request_id: requestId })
    if (kind === 'unauthenticated') note(remoteAddress, userId, reason)
    upgrade.refuse(error)
  }

  return {
    refuse,
    async admit(upgrade) {
      let holder: TokenHolder | undefined
      try {
        for (const check of checks) check(upgrade.request)
        holder = await authenticator.holder(tokenOf(upgrade.request.headers))
        return await register(upgrade, holder)
      } catch (error) {
        refuse(upgrade, toAppError(error), holder?.identity.id)
        return undefined
      }
    },
  }
}

/** The gateway takes no more sessions, for good. */
export function stopping(): AppError {
  return new AppError('unavailable', 'draining', 'The gateway is stopping; connect to another one.')
}

function readOnly(): AppError {
  return new AppError(
    'unavailable',
    'read_only',
    'The gateway is read-only at the moment and takes no sessions.',
  )
}

function tooManyConnections(retryAfterSeconds: number): AppError {
  const message = 'Too many connections from this address.'
  return new AppError('rate_limited', 'rate_limited', message, { retryAfterSeconds })
}
