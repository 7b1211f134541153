import type { Config } from '../../../config/config.ts'
import { isOnlyGateway } from '../../../config/value-types.ts'
import {
  matchesAll,
  type AlertView,
  type ReceiverView,
  type SilenceView,
} from '../../../domains/alerts/index.ts'
import type { Webhook } from '../../../domains/webhooks/index.ts'
import { DeclaredAlerts } from '../../../kernel/alerts.ts'
import { formatCount } from '../../../kernel/text.ts'
import { toRfc3339 } from '../../../kernel/time.ts'
import type { ServingProcess } from '../../../store/work/marks.ts'
import { DECLARED_ALERTS } from '../../domains.ts'
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
  run: async ({ loaded: { config }, knownState }) => {
    const { receivers, processes, silences } = await knownState()
    if (!receivers || !processes || !silences) return [skipped('receivers of alerts', 'needs the database')]
    if (receivers.length === 0) return [skipped('receivers of alerts', NO_RECEIVERS)]
    const codes = codesOf(config)
    return [
      ...receivers.map((receiver) => receiverFinding(receiver, processes, codes)),
      ...firstFindings(silences.map(silenceFinding), 'silences', MORE_SILENCES),
    ]
  },
}

const MORE_SILENCES = 'that are active: GET /alerts/silences?state=active'

const NO_RECEIVERS =
  'there are none, so nobody is notified of an alert: set alerts.robot.url, or add a table [receivers.NAME]'

/** Undefined where this user cannot read the key or the secrets. */
function codesOf(config: Config): ReceiverCodes | undefined {
  try {
    return receiverCodes(config, jwtSecrets(config))
  } catch {
    return undefined
  }
}

function receiverFinding(
  { name, kind, state, lastSuccessAt, lastError, pending, failingSince }: ReceiverView,
  processes: readonly ServingProcess[],
  codes: ReceiverCodes | undefined,
): CheckFinding {
  const subject = `${name} (${kind})`
  const sentAt = lastSuccessAt === null ? undefined : toRfc3339(lastSuccessAt)
  const outdated =
    codes &&
    processes.find((process) => !isOnlyGateway(process.modules) && process.receivers[name] !== codes[name])
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

/** Another check has a finding for each of these alerts. */
export const FOUND_ELSEWHERE =
  /^(?:bus\.emptied|data\.damaged|message\.dead:.*|payment\.channel_failing:.*|receiver\.failing:.*)$/

/** The alerts of the platform and its programs that need a person, and that nobody has acknowledged. */
export const alertsCheck: Check = {
  name: 'alerts',
  modules: ['api', 'worker'],
  run: async ({ knownState }) => {
    const { alerts } = await knownState()
    if (!alerts) return [skipped('of the platform', 'needs the database')]
    const declared = new DeclaredAlerts(DECLARED_ALERTS)
    const findings = alerts.flatMap((alert) => alertFindings(alert, declared))
    if (findings.length === 0) return [fine('of the platform', 'none needs a person')]
    return firstFindings(findings, 'of the platform', 'that need a person: GET /alerts?status=firing')
  },
}

function alertFindings(
  { alarmId, source, title, body, firstAt }: AlertView,
  declared: DeclaredAlerts,
): CheckFinding[] {
  if (alarmId === null || !source.startsWith('platform.') || FOUND_ELSEWHERE.test(alarmId)) return []
  const alert = declared.find(alarmId)
  if (alert?.repeatEveryMs === undefined) return []
  const remedyCode = declared.idOf(alarmId) ?? alarmId
  const text = [title, body].filter((part) => part !== '').join(': ')
  const values = { since: toRfc3339(firstAt), text: text.replaceAll('\n', ' ') }
  // The text is written for docs/reference.
  const remedy = alert.whatToDo.replaceAll('`', '')
  return [warning(alarmId, 'alert_open', { ...values, remedy, remedyCode })]
}

/** Whether endpoints of webhooks take their events. One that was disabled for its failures has an alert. */
export const webhooksCheck: Check = {
  name: 'webhooks',
  modules: ['api', 'worker'],
  run: async ({ knownState }) => {
    const { webhooks } = await knownState()
    if (!webhooks) return [skipped('endpoints', 'needs the database')]
    const findings = webhooks.flatMap(webhookFindings)
    const count = `${webhooks.length} ${webhooks.length === 1 ? 'is' : 'are'} registered`
    return findings.length > 0 ? findings : [fine('endpoints', `${count}; no enabled one fails`)]
  },
}

function webhookFindings({ id, url, enabled, failingSince, pending }: Webhook): CheckFinding[] {
  if (!enabled || failingSince === null) return []
  const { host } = new URL(url)
  const since = toRfc3339(failingSince)
  return [warning(id, 'webhook_failing', { host, since, pending, webhook: id })]
}
