import type { OperationName } from '../../../api/operations.ts'
import { session } from '../platform.ts'
import { pathOf } from '../view.ts'

type NamedPage = 'orders' | 'heartbeats' | 'messages' | 'executions'

// What the alarm ids of the platform name (docs/specification.md, Alerts).
const NAMED_OBJECTS: Readonly<
  Record<string, { readonly page: NamedPage; readonly operation: OperationName }>
> = {
  'order.timeout': { page: 'orders', operation: 'getOrder' },
  'heartbeat.missed': { page: 'heartbeats', operation: 'listHeartbeats' },
  'message.dead': { page: 'messages', operation: 'getMessage' },
  'command.incomplete': { page: 'executions', operation: 'getExecution' },
}

export interface NamedObject {
  readonly page: NamedPage
  readonly id: string
  readonly href: string
}

/** The object that an alarm id of the platform names; undefined for another one, and without the roles for the object. */
export function namedObject(alarmId: string): NamedObject | undefined {
  const [occasion = '', ...rest] = alarmId.split(':')
  const named = NAMED_OBJECTS[occasion]
  const id = rest.join(':')
  if (!named || id === '' || !session.may(named.operation)) return undefined
  return { page: named.page, id, href: `${pathOf({ name: named.page })}/${encodeURIComponent(id)}` }
}
