import { builtInCommand, type BuiltInCommand } from '../../kernel/command.ts'
import { counted } from '../../kernel/counted.ts'
import { expireOverdue } from './jobs.ts'
import type { Orders } from './service.ts'

/** Expires overdue orders now, instead of at the next scan. */
export function expireDueCommand(orders: Pick<Orders, 'expireDue'>): BuiltInCommand {
  return builtInCommand({
    id: 'orders.expire-due',
    title: 'Expire overdue orders',
    description: 'Expires the pending orders whose time is over now, instead of at the next scan.',
    async run({ signal, print }) {
      print(`Expired ${counted(await expireOverdue(orders, signal), 'order')}.`)
    },
  })
}
