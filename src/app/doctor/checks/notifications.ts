import type { Config } from '../../../config/config.ts'
import { matchesAll, type ReceiverView, type SilenceView } from '../../../domains/alerts/index.ts'
import { formatCount } from '../../../kernel/text.ts'
import { toRfc3339 } from '../../../kernel/time.ts'
import type { ServingProcess } from '../../../store/work/marks.ts'
import { receiverCodes, type ReceiverCodes } from '../../receivers.ts'
import { jwtSecrets } from '../../signing-keys.ts'
import { fault, fine, firstFindings, skipped, warning, type Check, type CheckFinding } from '../check.ts'

/**
 * Whether each receiver of alerts gets what is sent to it, whether the running platform has its present address, and what is
 * silenced.
 */
export const receiversCheck: Check = {
  name: 'receivers',
  modules: ['api', 'worker'],
  run: async ({ loaded: { config }, database }) => {
    const { receivers, processes, silences } = (await database().catch(() => undefined))?.activity ?? {}
    if (!receivers || !processes || !silences) return [skipped('receivers of alerts', 'needs the database')]
    if (receivers.length === 0) return [skipped('receivers of alerts', NONE)]
    const codes = codesOf(config)
    return [
      ...receivers.map((receiver) => findingOf(receiver, processes, codes)),
      ...firstFindings(silences.map(silenceFinding), 'silences', MORE_SILENCES),
    ]
  },
}

const MORE_SILENCES = 'that are active: GET /alerts/silences?state=active'

const NONE =
  'there are none, so nobody is notified of an alert: set alerts.robot.url, or add a table [receivers.NAME]'

/** Undefined where this user cannot read the key or the secrets. */
function codesOf(config: Config): ReceiverCodes | undefined {
  try {
    return receiverCodes(config, jwtSecrets(config))
  } catch {
    return undefined
  }
}

function findingOf(
  { name, kind, state, lastSuccessAt, lastError, pending, failingSince }: ReceiverView,
  processes: readonly ServingProcess[],
  codes: ReceiverCodes | undefined,
): CheckFinding {
  const subject = `${name} (${kind})`
  const sentAt = lastSuccessAt === null ? undefined : toRfc3339(lastSuccessAt)
  const outdated =
    codes && processes.find((each) => sendsNotifications(each) && each.receivers[name] !== codes[name])
  if (outdated) {
    const { processId, host } = outdated
    return warning(subject, 'receiver_outdated', { process: String(processId), host })
  }
  if (state === 'ok') {
    const waiting =
      pending > 0 ? `; ${formatCount(pending, 'message')} ${pending === 1 ? 'waits' : 'wait'}` : ''
    return fine(
      subject,
      `${sentAt === undefined ? 'nothing was sent yet' : `last sent at ${sentAt}`}${waiting}`,
    )
  }
  const since = failingSince === null ? '?' : toRfc3339(failingSince)
  const values = { since, reason: lastError ?? '?', pending, receiver: name }
  return sentAt === undefined
    ? fault(subject, 'receiver_never_reached', values)
    : fault(subject, 'receiver_failing', { ...values, sentAt })
}

function silenceFinding(silence: SilenceView): CheckFinding {
  const { id, createdBy: by, endsAt, reason } = silence
  const subject = `silence ${id}`
  const until = toRfc3339(endsAt)
  return matchesAll(silence)
    ? warning(subject, 'all_silenced', { by, until, reason, silence: id })
    : fine(subject, `by ${by} until ${until}: ${reason}`)
}

/** Whether a process sends notifications: one that is only a gateway does not. */
function sendsNotifications({ modules }: ServingProcess): boolean {
  return modules.some((module) => module !== 'gateway')
}
