import { DOMAINS } from '../../src/app/domains.ts'
import { BACKUP_ALERTS } from '../../programs/backup/declared-alerts.ts'
import { TICKET_NOTIFY_ALERTS } from '../../programs/ticket-notify/declared-alerts.ts'
import type { AlertTable, DeclaredAlert } from '../../src/kernel/alerts.ts'
import { HOUR } from '../../src/kernel/time.ts'
import { formatCount } from '../../src/kernel/text.ts'
import type { Domain } from '../../src/wire/domain.ts'
import { code, page, table } from './markdown.ts'

const NOTE = `The alerts that the platform and its programs raise. A \`*\` in an \`alarm_id\` stands for the name of the
thing that the alert is about. An alert that needs a person is sent again while it fires, but not while it is acknowledged,
silenced, inhibited or frozen. [The guide](../guide/alerts.md) shows how to work with alerts, and
[when something is wrong](../guide/when-something-is-wrong.md) leads from symptoms to causes.`

export function alertsPage(): string {
  return page(
    'Alerts',
    NOTE,
    '## Of the platform',
    alertTable(Object.assign({}, ...DOMAINS.map(({ alerts = {} }: Domain) => alerts))),
    '## Of the nightly routine',
    alertTable(BACKUP_ALERTS),
    '## Of the ticket notifier',
    alertTable(TICKET_NOTIFY_ALERTS),
  )
}

function alertTable(alerts: AlertTable): string {
  const header = ['`alarm_id`', 'Severity', 'Raised by', 'Ended by', 'What to do', 'Sent again']
  return table(header, Object.entries(alerts).map(row))
}

function row([alarmId, alert]: [string, DeclaredAlert]): string[] {
  const { severities, raisedBy, endedBy, whatToDo, repeatEveryMs } = alert
  const again = repeatEveryMs === undefined ? 'no' : `every ${formatCount(repeatEveryMs / HOUR, 'hour')}`
  return [code(alarmId), severities.join(', '), raisedBy, endedBy, whatToDo, again]
}
