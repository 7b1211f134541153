import { markTab } from '../../parts/tab-title.ts'

export interface Notice {
  /** The id of the object: the browser shows one notification of it at a time. */
  readonly id: string
  readonly title: string
  readonly body: string
  readonly open: () => void
}

let unseen = 0

/** Shows a notification of the browser if it can, and marks the tab until its user sees it again. */
export function notify({ id, title, body, open }: Notice): void {
  if (document.hidden) markTab(++unseen)
  const notification = newNotification(title, { body, tag: id })
  notification?.addEventListener('click', () => {
    focus()
    notification.close()
    open()
  })
}

/** Undefined in a browser that lets only a service worker notify, as those of Android do, although it grants the permission. */
function newNotification(title: string, options: NotificationOptions): Notification | undefined {
  try {
    return new Notification(title, options)
  } catch {
    return undefined
  }
}

/**
 * Whether the browser can notify of a page, if its user allows it: it needs HTTPS, and phones have notifications of installed
 * programs only. Before its user has allowed it, a new notification shows nothing.
 */
export function canNotify(): boolean {
  if (!isSecureContext || !('Notification' in globalThis)) return false
  return Notification.permission === 'granted' || newNotification('', {}) !== undefined
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden || unseen === 0) return
  unseen = 0
  markTab(unseen)
})
