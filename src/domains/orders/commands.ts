import { builtInCommand, type BuiltInCommand } from '../../kernel/command.ts'
import { counted } from '../../kernel/counted.ts'
import { runBatches } from '../../kernel/job.ts'
import { EXPIRY_BATCH } from './jobs.ts'
import type { Orders } from './service.ts'

/** Expires overdue orders now, instead of at the next scan. */
export function expireDueCommand(orders: Pick<Orders, 'expireDue'>): BuiltInCommand {
  return builtInCommand({
    id: 'orders.expire-due',
    title: 'Expire overdue orders',
    description: 'Expires the pending orders whose time is over now, instead of at the next scan.',
    async run({ signal, print }) {
      let total = 0
      await runBatches(signal, async () => {
        const { due, expired } = await orders.expireDue(EXPIRY_BATCH)
        total += expired
        return due === EXPIRY_BATCH && expired > 0
      })
      print(`Expired ${counted(total, 'order')}.`)
    },
  })
}
