import type { Agent } from './model.ts'

const HOUR_MS = 3_600_000
// Agents send every few minutes at the latest; the platform knows no period of theirs.
const SILENT_MS = HOUR_MS

/** Whether an agent has sent nothing for so long that somebody may want to look. */
export function isSilent({ last_at }: Pick<Agent, 'last_at'>, now: number): boolean {
  return now - Date.parse(last_at) > SILENT_MS
}
