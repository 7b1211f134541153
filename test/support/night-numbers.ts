import type { NightNumbers } from '../../programs/backup/metrics-file.ts'

/** Every number of the metrics. */
export const FULL_NIGHT_NUMBERS: NightNumbers = {
  server: 'primary',
  lastSuccessAt: Date.UTC(2026, 0, 31, 1, 5),
  lastStartAt: Date.UTC(2026, 0, 31, 1),
  sizeBytes: 1_048_576,
  stepDurationsMs: { packaged: 1_500, uploaded: 20_000 },
  failures: 2,
  errorCode: 'drive_unreachable',
  freedBytes: { packages: 4_096 },
  nextRunAt: Date.UTC(2026, 1, 1, 1),
  drill: {
    endedAt: Date.UTC(2026, 0, 1, 6),
    passed: true,
    lastPassAt: Date.UTC(2026, 0, 1, 6),
    rtoSeconds: 12.5,
    rpoSeconds: 18_000,
  },
}
