import type { Clock } from '../../kernel/clock.ts'
import type { Tx } from '../../store/store.ts'
import { inhibitorIdOf, inhibitorOf } from './inhibition.ts'
import type { Alert } from './model.ts'
import { silenceOf } from './silences/model.ts'
import { listActive } from './silences/store.ts'
import { shareAlert } from './store.ts'

/** The silence and the alert that suppress the notifications of an alert; read in the transaction of its change. */
export function createSuppressions(clock: Clock) {
  return {
    /** The active silence that matches the alert. */
    async silencedBy(tx: Tx, alert: Alert) {
      const now = clock.now()
      return silenceOf(alert, await listActive(tx, now), now)
    },

    /** The alert that inhibits this one. */
    async inhibitedBy(tx: Tx, alert: Alert) {
      const alarmId = inhibitorIdOf(alert)
      const other = alarmId === undefined ? undefined : await shareAlert(tx, alarmId)
      const inhibitor = other && inhibitorOf(alert, [other])
      return inhibitor && { id: inhibitor.id, alarmId: inhibitor.alarmId ?? '' }
    },
  }
}
