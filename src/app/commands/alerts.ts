import { hostname } from 'node:os'
import { AppError, errorMessage, invalidField } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  encodeAlertRoute,
  routeOfReport,
  testReceiver,
  type RouteExplanation,
} from '../../domains/alerts/index.ts'
import { ROBOT_RECEIVER } from '../../config/receivers.ts'
import type { Config, LoadedConfig } from '../../config/config.ts'
import { isOnlyGateway } from '../../config/value-types.ts'
import { systemClock } from '../../kernel/clock.ts'
import { printable } from '../../kernel/text.ts'
import { toRfc3339 } from '../../kernel/time.ts'
import type { Queries, Reads, Store } from '../../store/store.ts'
import { listServing, type ServingProcess } from '../../store/work/marks.ts'
import { alertSettings } from '../domains.ts'
import { alertRobot, openReceivers, receiverCodes } from '../receivers.ts'
import { jwtSecrets } from '../signing-keys.ts'
import { withDomains } from './domains.ts'
import { configOf, withStore, type CommandContext, type ConfigOptions } from './context.ts'

const WORKS = 0
const FAILED = 1

/** `platform alerts test NAME`: sends one message to a receiver by itself, and prints what the other side has answered. */
export async function sendToReceiver(
  context: CommandContext,
  name: string,
  options: ConfigOptions,
): Promise<number> {
  const loaded = configOf(context, options)
  const receivers = openReceivers(loaded.config)
  const receiver = receivers.find((candidate) => candidate.name === name)
  if (!receiver) {
    const names = receivers.map((candidate) => candidate.name).join(', ') || 'none'
    const message = `There is no receiver ${JSON.stringify(name)}; the configured ones are: ${names}.`
    throw new AppError('not_found', 'receiver_not_found', message)
  }
  const { delivered, answer } = await testReceiver(receiver)
  context.stdout.write(`${delivered ? 'delivered' : 'not delivered'}: ${printable(answer)}\n`)
  if (!delivered) return FAILED
  return recordDelivery(context, name, loaded)
}

/**
 * Records that a receiver works, unless a running process has another configuration of it. If there is no database, the
 * message has arrived nevertheless.
 */
async function recordDelivery(context: CommandContext, name: string, loaded: LoadedConfig): Promise<number> {
  const { config } = loaded
  try {
    return await withDomains(context, loaded, async ({ store, domains: { alerts } }) => {
      const outdated = await outdatedProcesses(store.read, name, config)
      for (const process of outdated) context.stderr.write(`platform: ${outdatedText(process, name)}\n`)
      if (outdated.length > 0) return FAILED
      if (!config.readOnly)
        await store.write((tx) => alerts.notices.recordTest(tx, name, { delivered: true }))
      return WORKS
    })
  } catch (error) {
    context.stderr.write(`platform: The success is not recorded: ${errorMessage(error)}\n`)
    return WORKS
  }
}

/** The running processes that send to a receiver, and have another configuration of it than this one. */
async function outdatedProcesses(reads: Reads, name: string, config: Config): Promise<ServingProcess[]> {
  const serving = await listServing(reads, systemClock.now())
  if (serving.length === 0) return []
  const { [name]: code } = receiverCodes(config, jwtSecrets(config))
  return serving.filter(({ modules, receivers }) => !isOnlyGateway(modules) && receivers[name] !== code)
}

function outdatedText({ host, processId, startedAt }: ServingProcess, name: string): string {
  return `The platform on ${host} (process ${processId}, started ${toRfc3339(startedAt)}) has another address or secret for ${name}, and does not use this one: restart it.`
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** `platform alerts route`: where an alert of the database, or a report in a file, goes and went; as JSON for programs. */
export async function showRoute(
  context: CommandContext,
  target: string,
  options: ConfigOptions,
): Promise<void> {
  const loaded = configOf(context, options)
  const explanation = ID.test(target)
    ? await withDomains(context, loaded, ({ domains }) => domains.alerts.explainRoute(target))
    : await routeOfFile(context, target, loaded)
  const text = context.stdout.isTTY === true ? explain(explanation) : encodeAlertRoute(explanation)
  context.stdout.write(`${text}\n`)
}

/** If there is no database, such as on the computer of somebody who writes routes, they alone say where a report goes. */
async function routeOfFile(
  context: CommandContext,
  path: string,
  loaded: LoadedConfig,
): Promise<RouteExplanation> {
  const report = readReport(context, path)
  const explainWith = (queries?: Queries) =>
    routeOfReport(report, alertSettings(loaded.config), {
      now: systemClock.now(),
      ...(queries && { queries }),
    })
  const routed = await explainWith()
  try {
    return await withStore(loaded, (store) => explainWith(store.read))
  } catch (error) {
    context.stderr.write(`platform: Without silences and inhibitions: ${errorMessage(error)}\n`)
    return routed
  }
}

function explain({ matched, receivers }: RouteExplanation): string {
  const lines = receivers.map(
    ({ name, at, because }) => `${name}: ${because}${at === null ? '' : ` ${toRfc3339(at)}`}`,
  )
  return [`matched: ${matched.join(', ')}`, ...(lines.length > 0 ? lines : ['nobody is told'])].join('\n')
}

function readReport({ cwd }: CommandContext, path: string): Parameters<typeof routeOfReport>[0] {
  const wrong = (reason: string) => invalidField('file', 'invalid', { reason })
  let report: unknown
  try {
    report = JSON.parse(readFileSync(resolve(cwd, path), 'utf8'))
  } catch (error) {
    throw wrong(`must be the id of an alert, or a file with a report as JSON: ${errorMessage(error)}`)
  }
  const { source, title } = Object(report) as { source?: unknown; title?: unknown }
  if (typeof source !== 'string' || typeof title !== 'string')
    throw wrong('must have a report with the texts source and title')
  return { ...(report as object), source, title }
}

/** `platform alerts test-robot`: sends one message, and prints the answer of the robot. */
export async function sendToRobot(context: CommandContext, options: ConfigOptions): Promise<void> {
  const loaded = configOf(context, options)
  const robot = alertRobot(loaded.config)
  if (!robot)
    throw invalidField('alerts.robot.url', 'invalid', {
      reason: 'must be set, with alerts.robot.kind, to send a message to a robot',
    })
  const outcome = await robot.send({
    title: '[INFO] Test of the alert robot',
    text: `The platform on ${hostname()} can send alerts to this group.`,
    level: 'INFO',
    key: newId(),
  })
  if (!outcome.sent)
    throw new AppError('unavailable', 'robot_failed', `The robot did not take the message: ${outcome.reason}`)
  context.stdout.write(`sent; the robot answered: ${printable(outcome.answer)}\n`)
  await requireSameRobot(loaded)
}

/** A test of the configuration must not hide that the running platform has another one. */
async function requireSameRobot(loaded: LoadedConfig): Promise<void> {
  const find = ({ read }: Store) => outdatedProcesses(read, ROBOT_RECEIVER, loaded.config)
  // The message has arrived, whether or not there is a database.
  const [outdated] = await withStore(loaded, find).catch(() => [])
  if (outdated) throw new AppError('conflict', 'restart_needed', outdatedText(outdated, 'the robot'))
}
