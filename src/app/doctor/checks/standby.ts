import type { Config } from '../../../config/config.ts'
import { readMirrorToken } from '../../../config/secrets.ts'
import { doNetworksOverlap, type MirrorState } from '../../../domains/users/index.ts'
import { PrimaryUsers } from '../../../infra/mirror/primary-users.ts'
import { errorMessage } from '../../../kernel/errors.ts'
import { MINUTE, SECOND, toRfc3339 } from '../../../kernel/time.ts'
import type { UserSourceFailure } from '../../../ports/user-source.ts'
import { fault, fine, skipped, warning, type Check, type CheckFinding } from '../check.ts'

type Outcome = Awaited<ReturnType<PrimaryUsers['changesSince']>>

const TOKEN_REMEDY =
  'on the primary, run: platform token issue USER --purpose mirror --ttl 30d, for any enabled user'
const UNREACHABLE_REMEDY = 'start the primary, or change gateway.mirror_from; until then the copy is used'
const REMEDIES: Readonly<Record<UserSourceFailure['outcome'], string>> = {
  refused: TOKEN_REMEDY,
  unreachable: UNREACHABLE_REMEDY,
  unusable: 'install the same release on both servers',
}
// A running standby records every ten seconds that its copy is current.
const RECENT_MS = MINUTE

/** Whether a standby can copy the users of its primary, and how old its copy is. */
export const standbyCheck: Check = {
  name: 'standby',
  async run({ loaded: { config }, clock, database }) {
    const { gateway } = config
    if (gateway.mirrorFrom === undefined) return [skipped('gateway.mirror_from', 'is not set: no standby')]
    const state = (await database().catch(() => undefined))?.mirror
    const token = tokenFile(gateway.mirrorTokenFile ?? '')
    return [
      token,
      ...(token.result === 'ok' ? await primary(gateway.mirrorFrom, config, state?.revision ?? 0) : []),
      copy(state, gateway.mirrorMaxAgeMs, clock.now()),
    ]
  },
}

function tokenFile(path: string): CheckFinding {
  const subject = `gateway.mirror_token_file ${path}`
  try {
    readMirrorToken(path)
    return fine(subject, 'contains a token')
  } catch (error) {
    return fault(subject, errorMessage(error), TOKEN_REMEDY)
  }
}

async function primary(url: string, { gateway, vpn }: Config, since: number): Promise<CheckFinding[]> {
  const { mirrorTokenFile = '' } = gateway
  const users = new PrimaryUsers({ url, readToken: () => readMirrorToken(mirrorTokenFile) })
  try {
    return answerOf(url, await users.changesSince(since, AbortSignal.any([])), vpn.ipPool.text)
  } finally {
    users.close()
  }
}

function answerOf(url: string, answer: Outcome, ownPool: string): CheckFinding[] {
  if (answer.outcome === 'changes')
    return [fine(url, 'answers with its users'), pools(ownPool, answer.changes.pool)]
  const result = answer.outcome === 'unreachable' ? warning : fault
  return [result(url, answer.reason, REMEDIES[answer.outcome])]
}

function pools(own: string, ofPrimary: string): CheckFinding {
  const subject = `vpn.ip_pool ${own}`
  if (!doNetworksOverlap(own, ofPrimary)) return fine(subject, `does not overlap ${ofPrimary} of the primary`)
  return fault(subject, `overlaps ${ofPrimary} of the primary`, 'give each server a pool of its own')
}

function copy(state: MirrorState | undefined, maxAgeMs: number, now: number): CheckFinding {
  const confirmedAt = state?.confirmedAt ?? null
  if (confirmedAt === null) return skipped('copy of the users', 'is made by the first start')
  const seconds = Math.max(0, Math.round((now - confirmedAt) / SECOND))
  const detail = `was current ${seconds} s ago, at ${toRfc3339(confirmedAt)}`
  if (seconds * SECOND > maxAgeMs)
    return fault('copy of the users', `${detail}: no new session is accepted`, UNREACHABLE_REMEDY)
  if (seconds * SECOND <= RECENT_MS) return fine('copy of the users', detail)
  return warning(
    'copy of the users',
    detail,
    'start the platform on this server, and see the finding of the primary',
  )
}
