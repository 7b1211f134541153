import { builtInCommand, type BuiltInCommand } from '../../kernel/command.ts'
import { counted } from '../../kernel/counted.ts'
import type { Messages } from './service.ts'

/** Sends the dead messages again, each one once. */
export function redriveDeadCommand(messages: Pick<Messages, 'redriveDead'>): BuiltInCommand {
  return builtInCommand({
    id: 'messages.redrive-dead',
    title: 'Redrive dead messages',
    description: 'Makes every dead message pending again. Remove the cause first, or they become dead again.',
    async run({ signal, print }) {
      print(`Redrove ${counted(await messages.redriveDead(signal), 'message')}.`)
    },
  })
}
