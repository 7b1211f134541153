// `npm run cluster` runs the platform on PostgreSQL under Patroni and a NATS cluster, each process on a host of its own, until
// Ctrl-C.
// `npm run cluster -- COMMAND …` runs a command there instead, and returns its exit code.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { alignColumns } from '../src/kernel/text.ts'
import { Cluster, FULL_SIZE } from '../test/support/hosts/cluster.ts'
import {
  isInSandbox,
  missingForSandbox,
  REQUIRED_FOR_ALL,
  SANDBOX_DIRECTORY,
  spawnInSandbox,
} from '../test/support/hosts/sandbox.ts'

async function main(command: readonly string[]): Promise<number> {
  if (isInSandbox()) return runCluster(command)
  const missing = missingForSandbox(REQUIRED_FOR_ALL)
  if (missing === undefined) return runInSandbox(command)
  process.stderr.write(`cluster: cannot start: ${missing}\n`)
  return 1
}

async function runInSandbox(command: readonly string[]): Promise<number> {
  const child = spawnInSandbox([import.meta.filename, ...command], 'inherit')
  // The program inside gets the signal of the terminal too, and stops by itself.
  process.on('SIGINT', () => undefined)
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

async function runCluster(command: readonly string[]): Promise<number> {
  const interrupted = once(process, 'SIGINT')
  const cluster = new Cluster(FULL_SIZE)
  const starting = cluster.start((step) => process.stderr.write(`starting ${step}\n`))
  const isStarted = await Promise.race([starting.then(() => true), interrupted.then(() => false)])
  if (!isStarted) return 0
  const rows = cluster.places.map(({ host, what, address }) => [host, what, address])
  process.stderr.write(`${alignColumns([['HOST', 'WHAT', 'ADDRESS'], ...rows])}\n${hints(cluster)}`)
  if (command.length > 0) return runCommand(command, interrupted)
  await interrupted
  return 0
}

async function runCommand(
  [name = '', ...args]: readonly string[],
  interrupted: Promise<unknown>,
): Promise<number> {
  const child = spawn(name, args, { stdio: 'inherit' })
  const ended = once(child, 'exit') as Promise<[number | null]>
  const [code] = (await Promise.race([ended, interrupted.then(() => [0])])) as [number | null]
  return code ?? 1
}

function hints({ postgres, apis, databases }: Cluster): string {
  const [api] = apis
  const patroni = `http://${databases[0]?.address}:8008/cluster`
  return [
    `The database is ${postgres.url}; logs are in ${SANDBOX_DIRECTORY}. The addresses exist only in this sandbox:`,
    `  a shell in it        nsenter -t $(pgrep -of ${SANDBOX_DIRECTORY}) -U -n -m -p --preserve-credentials bash`,
    `  on one of its hosts  nsenter --net=/run/netns/${api?.name} bash`,
    `  who is the primary   curl ${patroni}`,
    '  cut a host off       nsenter --net=/run/netns/switch ip link set p-api1 down',
    'Ctrl-C stops everything.\n',
  ].join('\n')
}

process.exitCode = await main(process.argv.slice(2))
// oxlint-disable-next-line unicorn/no-process-exit -- the programs of the hosts end with the sandbox
if (isInSandbox()) process.exit()
