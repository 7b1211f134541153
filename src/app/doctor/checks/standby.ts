import type { Config } from '../../../config/config.ts'
import { readMirrorToken } from '../../../config/secrets.ts'
import type { MirrorState } from '../../../domains/users/index.ts'
import { PrimaryUsers } from '../../../infra/mirror/primary-users.ts'
import { errorMessage } from '../../../kernel/errors.ts'
import { SECOND, toRfc3339 } from '../../../kernel/time.ts'
import { fault, fine, skipped, warning, type Check, type CheckFinding } from '../check.ts'

type Gateway = Config['gateway']
type Outcome = Awaited<ReturnType<PrimaryUsers['changesSince']>>

const TOKEN_REMEDY =
  'on the primary, run: platform token issue USER --ttl 30d, for a user with the role service'
const UNREACHABLE_REMEDY = 'start the primary, or change gateway.mirror_from; until then the copy is used'

/** Whether a standby can copy the users of its primary, and how old its copy is. */
export const standbyCheck: Check = {
  name: 'standby',
  async run({ loaded: { config }, clock, database }) {
    const { gateway } = config
    if (gateway.mirrorFrom === undefined) return [skipped('gateway.mirror_from', 'is not set: no standby')]
    const state = (await database().catch(() => undefined))?.mirror
    return [
      tokenFile(gateway.mirrorTokenFile ?? ''),
      await primary(gateway.mirrorFrom, gateway, state?.revision ?? 0),
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

async function primary(url: string, { mirrorTokenFile = '' }: Gateway, since: number): Promise<CheckFinding> {
  const users = new PrimaryUsers({ url, readToken: () => readMirrorToken(mirrorTokenFile) })
  try {
    return answerOf(url, await users.changesSince(since, AbortSignal.any([])))
  } finally {
    users.close()
  }
}

function answerOf(url: string, answer: Outcome): CheckFinding {
  if (answer.outcome === 'changes') return fine(url, 'answers with its users')
  if (answer.outcome === 'unreachable') return warning(url, answer.reason, UNREACHABLE_REMEDY)
  return fault(url, answer.reason, TOKEN_REMEDY)
}

function copy(state: MirrorState | undefined, maxAgeMs: number, now: number): CheckFinding {
  const confirmedAt = state?.confirmedAt ?? null
  if (confirmedAt === null) return skipped('copy of the users', 'is made by the first start')
  const seconds = Math.max(0, Math.round((now - confirmedAt) / SECOND))
  const detail = `was current ${seconds} s ago, at ${toRfc3339(confirmedAt)}`
  if (seconds * SECOND <= maxAgeMs) return fine('copy of the users', detail)
  return fault('copy of the users', `${detail}: no new session is accepted`, UNREACHABLE_REMEDY)
}
