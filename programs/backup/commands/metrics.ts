import { writeMetricsFile } from '../metrics-file.ts'
import { nightNumbers } from '../night-numbers.ts'
import type { BackupParts } from '../parts.ts'

/** Writes the metrics, if a file is configured for them. */
export function updateMetrics({ config, state, runtime, logger }: BackupParts): void {
  const { textfile, server } = config.backup
  if (textfile === undefined) return
  const options = { server, schedule: config.backup, now: runtime.clock.now() }
  const problem = writeMetricsFile(textfile, nightNumbers(state.read(), options))
  if (problem !== undefined) logger.warn({}, problem)
}
