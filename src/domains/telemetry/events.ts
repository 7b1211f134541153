/** Each item is one event (docs/specification.md, Telemetry). */
export const TELEMETRY_EVENTS = { item: 'telemetry.agent.*' } as const

const PREFIX = 'telemetry.agent.'

export function subjectOf(agentId: string): string {
  return PREFIX + agentId
}

/** The agent of a subject; undefined for a subject that is not telemetry. */
export function agentOf(subject: string): string | undefined {
  return subject.startsWith(PREFIX) ? subject.slice(PREFIX.length) : undefined
}

/** Whether a pattern as `telemetry.>` takes the subjects of all agents. */
export function coversAllAgents(pattern: string): boolean {
  return pattern.endsWith('.>') && PREFIX.startsWith(pattern.slice(0, -1))
}
