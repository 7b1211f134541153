import type { Webhook } from '../../../domains/webhooks/index.ts'
import { toRfc3339 } from '../../../kernel/time.ts'
import { fine, skipped, warning, type Check, type CheckFinding } from '../check.ts'
import { documentPath } from '../document-path.ts'

/** Whether endpoints of webhooks take their events. One that was disabled for its failures has an alert. */
export const webhooksCheck: Check = {
  name: 'webhooks',
  modules: ['api', 'worker'],
  run: async ({ database }) => {
    const webhooks = (await database().catch(() => undefined))?.activity.webhooks
    if (!webhooks) return [skipped('endpoints', 'needs the database')]
    const found = webhooks.flatMap(findingOf)
    const count = `${webhooks.length} ${webhooks.length === 1 ? 'is' : 'are'} registered`
    return found.length > 0 ? found : [fine('endpoints', `${count}; no enabled one fails`)]
  },
}

function findingOf({ id, url, enabled, failingSince, pending }: Webhook): CheckFinding[] {
  if (!enabled || failingSince === null) return []
  const { host } = new URL(url)
  const document = documentPath('docs/guide/webhooks.md')
  return [
    warning(id, 'webhook_failing', { host, since: toRfc3339(failingSince), pending, webhook: id, document }),
  ]
}
