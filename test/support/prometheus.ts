import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from './eventually.ts'
import { freePort } from './loopback.ts'

/** A real Prometheus or Alertmanager in its own process. */
export interface MonitoringServer extends AsyncDisposable {
  readonly url: string
  /** Kills the process (SIGKILL). */
  kill(): Promise<void>
}

/** Where it sends its alerts, and with which token. */
export interface Receiver {
  readonly url: string
  readonly token?: string
}

export interface PrometheusOptions {
  /** A server whose `/metrics` it scrapes every second. */
  readonly target: string
  readonly receiver: Receiver
  /** PromQL by the name of the alert, and its labels and annotations as JSON. */
  readonly rules: readonly {
    readonly alert: string
    readonly expr: string
    readonly labels: object
    readonly annotations: object
  }[]
}

/** A Prometheus that evaluates its rules and sends their alerts every second. */
export function startPrometheus({ target, receiver, rules }: PrometheusOptions): Promise<MonitoringServer> {
  // JSON is YAML.
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yml'],
    scrape_configs: [{ job_name: 'test', static_configs: [{ targets: [new URL(target).host] }] }],
    alerting: {
      alertmanagers: [
        {
          api_version: 'v2',
          static_configs: [{ targets: [new URL(receiver.url).host] }],
          ...authorization(receiver),
        },
      ],
    },
  }
  return start({
    command: 'prometheus',
    files: { 'config.yml': config, 'rules.yml': { groups: [{ name: 'test', rules }] } },
    args: ['--storage.tsdb.path=data', '--rules.alert.resend-delay=1s'],
  })
}

/** An Alertmanager that sends each change at once to a webhook, and repeats it after that time. */
export function startAlertmanager(webhook: Receiver, repeatInterval: string): Promise<MonitoringServer> {
  const config = {
    route: {
      receiver: 'platform',
      group_by: ['...'],
      group_wait: '1ms',
      group_interval: '200ms',
      repeat_interval: repeatInterval,
    },
    receivers: [
      {
        name: 'platform',
        webhook_configs: [{ url: webhook.url, send_resolved: true, http_config: authorization(webhook) }],
      },
    ],
  }
  return start({
    command: 'prometheus-alertmanager',
    files: { 'config.yml': config },
    args: ['--storage.path=data', '--cluster.listen-address='],
  })
}

function authorization({ token }: Receiver): object {
  return token === undefined ? {} : { authorization: { type: 'Bearer', credentials: token } }
}

interface Program {
  readonly command: string
  readonly files: Readonly<Record<string, object>>
  readonly args: readonly string[]
}

async function start({ command, files, args }: Program): Promise<MonitoringServer> {
  const directory = mkdtempSync(join(tmpdir(), `${command}-`))
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(directory, name), JSON.stringify(content))
  const address = `127.0.0.1:${await freePort()}`
  const child = spawn(command, ['--config.file=config.yml', `--web.listen-address=${address}`, ...args], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const output = outputOf(child, command)
  const server: MonitoringServer = {
    url: `http://${address}`,
    kill: () => kill(child),
    async [Symbol.asyncDispose]() {
      await kill(child)
      rmSync(directory, { recursive: true, force: true })
    },
  }
  await eventually(`${command} to be ready`, async () => {
    if (child.exitCode !== null) return true
    return (await fetch(`${server.url}/-/ready`)).ok
  })
  if (child.exitCode !== null) throw new Error(`${command} ended: ${output()}`)
  return server
}

function outputOf(child: ChildProcess, command: string): () => string {
  let text = ''
  child.stderr?.setEncoding('utf8').on('data', (part: string) => (text += part))
  child.on('error', (error) => (text += `${error}; on Debian: apt-get install ${command}`))
  process.once('exit', () => child.kill('SIGKILL'))
  return () => text
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
