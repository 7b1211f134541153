import { hash } from 'node:crypto'

/** The labels of a Prometheus alert that have a value, sorted bytewise by their names. */
export type AlertLabels = readonly (readonly [name: string, value: string])[]

/** A label without a value counts as missing, as in an Alertmanager. */
export function sortedLabels(labels: Readonly<Record<string, string>>): AlertLabels {
  return Object.entries(labels)
    .filter(([, value]) => value !== '')
    .sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
}

export function labelOf(labels: AlertLabels, wanted: string): string | undefined {
  return labels.find(([name]) => name === wanted)?.[1]
}

const HASH_DIGITS = 16

/** The labels alone identify an alert (docs/specification.md, Prometheus and Alertmanager). */
export function alarmIdOf(labels: AlertLabels): string {
  return `prometheus:${hash('sha256', JSON.stringify(labels)).slice(0, HASH_DIGITS)}`
}

/** The group of a notification: an Alertmanager repeats a whole group, and names it by a text of any length. */
export function groupIdOf(
  notification: Readonly<Partial<Record<'externalURL' | 'receiver' | 'groupKey', string>>>,
): string | undefined {
  const { externalURL = '', receiver = '', groupKey } = notification
  return groupKey === undefined
    ? undefined
    : hash('sha256', JSON.stringify([externalURL, receiver, groupKey]), 'base64url')
}

/** One label a line, in the notation of Prometheus. */
export function labelText(labels: AlertLabels): string {
  return labels.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join('\n')
}
