import { builtInCommand, type BuiltInCommand } from '../../kernel/command.ts'
import { counted } from '../../kernel/counted.ts'
import type { Sessions } from './service.ts'

/** Disconnects all VPN sessions of a user. */
export function disconnectUserCommand(sessions: Pick<Sessions, 'disconnectUser'>): BuiltInCommand {
  return builtInCommand({
    id: 'vpn.disconnect-user',
    title: 'Disconnect a VPN user',
    description:
      'Closes all live sessions of a user with 4403. The user may connect again; disable it to prevent that.',
    params: { user_id: { type: 'string', pattern: '^.{1,64}$', description: 'Id of the user.' } },
    async run({ params, actor, print }) {
      const disconnected = await sessions.disconnectUser(String(params['user_id']), actor)
      print(`Disconnected ${counted(disconnected, 'session')}.`)
    },
  })
}
