// Follows the README in the system whose first process has the given id, with the installed package.
// Usage: follow-tour.ts PID
import { blocksOf, followSteps, START_BUS, startShell, tour } from '../support/shown-commands.ts'
import { firstPassword } from '../support/shown-output.ts'

const CONFIG = '/etc/platform/platform.toml'
// The commands of a checkout are those of the package; the database belongs to the user of the service.
const INSTALLED =
  'npx() { shift; if [ "$1" = vpn ]; then platform "$@"; else runuser -u platform -- platform "$@" --config ' +
  `${CONFIG}; fi; }`

const system = process.argv[2] ?? ''
const variables = ['env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root']
const wrapper = ['nsenter', '--target', system, '--all', ...variables]

await using shell = startShell({}, wrapper)
await using ownTerminal = startShell({}, wrapper)
await using busTerminal = startShell({}, wrapper)
for (const each of [shell, ownTerminal]) await each.run(INSTALLED)
const PASSWORD = firstPassword(await shell.run('journalctl --unit platform --output cat'))
const reader = { shell, ownTerminal, values: { PASSWORD }, gatewayUrl: 'http://127.0.0.1:9994' }
for (const block of blocksOf(tour())) {
  if (block.text === START_BUS) busTerminal.start(START_BUS)
  else await followSteps(reader, block)
}
