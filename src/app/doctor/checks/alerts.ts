import type { AlertView } from '../../../domains/alerts/index.ts'
import { DeclaredAlerts } from '../../../kernel/alerts.ts'
import { toRfc3339 } from '../../../kernel/time.ts'
import { DECLARED_ALERTS } from '../../domains.ts'
import { fine, firstFindings, skipped, warning, type Check, type CheckFinding } from '../check.ts'

/** Another check has a finding for each of these alerts. */
export const FOUND_ELSEWHERE =
  /^(?:bus\.emptied|data\.damaged|message\.dead:.*|payment\.channel_failing:.*|receiver\.failing:.*)$/

/** The alerts of the platform and its programs that need a person, and that nobody has acknowledged. */
export const alertsCheck: Check = {
  name: 'alerts',
  modules: ['api', 'worker'],
  run: async ({ database }) => {
    const alerts = (await database().catch(() => undefined))?.activity.alerts
    if (!alerts) return [skipped('of the platform', 'needs the database')]
    const declared = new DeclaredAlerts(DECLARED_ALERTS)
    const found = alerts.flatMap((alert) => findingOf(alert, declared))
    if (found.length === 0) return [fine('of the platform', 'none needs a person')]
    return firstFindings(found, 'of the platform', 'that need a person: GET /alerts?status=firing')
  },
}

function findingOf(
  { alarmId, source, title, body, firstAt }: AlertView,
  declared: DeclaredAlerts,
): CheckFinding[] {
  if (alarmId === null || !source.startsWith('platform.') || FOUND_ELSEWHERE.test(alarmId)) return []
  const own = declared.find(alarmId)
  if (own?.repeatEveryMs === undefined) return []
  const remedyCode = declared.idOf(alarmId) ?? alarmId
  const text = [title, body].filter((each) => each !== '').join(': ')
  const values = { since: toRfc3339(firstAt), text: text.replaceAll('\n', ' ') }
  // It is written for docs/reference.
  const remedy = own.whatToDo.replaceAll('`', '')
  return [warning(alarmId, 'alert_open', { ...values, remedy, remedyCode })]
}
