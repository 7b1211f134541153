import { declaredAlarmId, DeclaredAlerts, type AlertTable } from '../../src/kernel/alerts.ts'
import type { RecoverableAlerts } from '../../src/ports/alerts.ts'

const ANY = {
  '*': { severities: ['ERROR'], raisedBy: 'A test.', endedBy: 'The test.', whatToDo: 'Nothing.' },
} as const satisfies AlertTable

/** Every alert is declared, without a rule about its end. */
export const anyAlerts = new DeclaredAlerts(ANY)

export const anyAlarmId = (text: string) => declaredAlarmId(ANY, '*', text)

/** Raises nothing. */
export const noAlerts: RecoverableAlerts = { async raise() {}, async recoverIfRaised() {} }
