import { signal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import { useEffect, useMemo } from 'preact/hooks'
import { eventObject } from '../../../api/event-stream.ts'
import { defineWords } from '../../../i18n/language.ts'
import { writeLocal, readLocal } from '../../../parts/preferences.ts'
import { showToast } from '../../../parts/toast.tsx'
import { canNotify, notify } from '../notify.ts'
import { live, session } from '../platform.ts'
import { activeSilences } from '../silences/active-silences.ts'
import { coveringSilence } from '../silences/covering.ts'
import { pathOf } from '../view.ts'
import type { Alert } from './model.ts'
import { FIRING_SEVERITIES, SEVERITY_WORDS } from './severities.ts'

const noticeWords = defineWords({
  label: ['Notify this browser', '通知此浏览器'],
  never: ['Never', '从不'],
  from: [(severity: string) => `From ${severity}`, (severity) => `${severity}及以上`],
  refused: [
    'The browser does not allow notifications of this page. Allow them in its settings, then choose again.',
    '浏览器不允许此页面发送通知。请在浏览器设置中允许，然后重新选择。',
  ],
})

const severityWords = defineWords(SEVERITY_WORDS)

const KEY = 'platform.alert-notices'

type Severity = (typeof FIRING_SEVERITIES)[number]

/** The lowest severity of which this browser notifies its user; null for none. */
const leastSeverity = signal(FIRING_SEVERITIES.find((severity) => severity === readLocal(KEY)) ?? null)

/** Whether the browser shows notifications of alerts, so that events are needed even while nobody looks at the page. */
export function notifiesOfAlerts(): boolean {
  return leastSeverity.value !== null
}

async function chooseLeast(severity: Severity | null): Promise<void> {
  const isAllowed = (await Notification.requestPermission()) === 'granted'
  if (severity !== null && !isAllowed) showToast('warning', noticeWords().refused)
  leastSeverity.value = isAllowed ? severity : null
  writeLocal(KEY, leastSeverity.value ?? '')
}

/** From which severity on the browser notifies of new alerts: a choice of this browser, if it can notify. */
export function AlertNoticeChoice() {
  const isPossible = useMemo(canNotify, [])
  const { label, never, from } = noticeWords()
  const severities = severityWords()
  if (!isPossible) return null
  return (
    <label class="setting-choice">
      {label}
      <select
        class="input"
        value={leastSeverity.value ?? ''}
        onChange={({ currentTarget: { value } }) =>
          void chooseLeast(FIRING_SEVERITIES.find((severity) => severity === value) ?? null)
        }
      >
        <option value="">{never}</option>
        {FIRING_SEVERITIES.map((severity) => (
          <option key={severity} value={severity}>
            {from(severities[severity])}
          </option>
        ))}
      </select>
    </label>
  )
}

const RAISED = 'alert.raised'
const alertIn = eventObject('Alert')

/** Notifies of new alerts. */
export function useAlertNotices(): void {
  const { route } = useLocation()
  useEffect(() => {
    if (!session.may('listAlerts')) return undefined
    return live.subscribe({
      prefix: 'alert.',
      onEvent(event) {
        const alert = alertIn(event)
        if (event.subject !== RAISED || !alert || !isNoticed(alert)) return
        const { id, severity, title, source } = alert
        const open = () => route(pathOf('alerts', id))
        const notice = { id, title: `${severityWords()[severity]}: ${title}`, body: source, open }
        void isSilenced(alert).then((silenced) => silenced || notify(notice))
      },
      onGap() {},
      onReturn() {},
    })
  }, [])
}

const READ_TIMEOUT_MS = 10_000

/**
 * Reads the silences for each alert, because a page that shows no alerts does not follow them. The list has no id, so the
 * empty one is passed.
 */
async function isSilenced(alert: Alert): Promise<boolean> {
  const silences = await activeSilences.read('', AbortSignal.timeout(READ_TIMEOUT_MS))
  return silences.ok && coveringSilence(alert, silences.value.items) !== undefined
}

function isNoticed({ severity }: Alert): boolean {
  // The most severe one is first.
  const rank = FIRING_SEVERITIES.findIndex((listed) => listed === severity)
  return leastSeverity.value !== null && rank !== -1 && rank <= FIRING_SEVERITIES.indexOf(leastSeverity.value)
}
