// The oldest Node.js that the released files run on; docs/guide/ticket-notify.md names it too.
export const OLDEST_NODE_MAJOR = 20

/** Why this Node.js cannot run the notifier, undefined when it can. */
export function nodeProblem(version: string): string | undefined {
  return Number(version.split('.')[0]) >= OLDEST_NODE_MAJOR
    ? undefined
    : `Node.js ${OLDEST_NODE_MAJOR} or later is needed, this is ${version}`
}
