// The oldest Node.js for the released files, also in docs/guide/ticket-notify.md.
export const OLDEST_NODE_MAJOR = 20

/** Why the notifier cannot run on this Node.js, undefined when it can. */
export function nodeProblem(version: string): string | undefined {
  return Number(version.split('.')[0]) >= OLDEST_NODE_MAJOR
    ? undefined
    : `Node.js ${OLDEST_NODE_MAJOR} or later is needed, this is ${version}`
}
