import type { AnswerOf } from '../../../api/operations.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live } from '../platform.ts'

// Enough to see what a silence covers; of more the newest are read.
const MOST_READ = 200
const PAUSE_MS = 5_000

/** The alerts that fire now. Whoever may silence alerts may list them. */
export const firingAlerts: ResourceSource<AnswerOf<'listAlerts'>> = {
  live,
  prefix: 'alert.',
  read: (_, signal) => call('listAlerts', { query: { status: 'firing', limit: MOST_READ } }, signal),
  isAbout: () => true,
  pauseMs: PAUSE_MS,
}
