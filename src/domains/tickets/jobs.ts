import type { Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { SECOND } from '../../kernel/time.ts'
import { TICKET_LEVELS } from './model.ts'
import type { Tickets } from './service.ts'

const COUNT_EVERY_MS = 30 * SECOND

/** Updates the gauge of tickets. */
export function ticketCountJob(tickets: Tickets, metrics: Metrics): Job {
  const unclosed = metrics.gauge({
    name: 'tickets_unclosed',
    help: 'Tickets that are not closed, by level, counted every 30 s.',
    labels: ['level'],
  })
  return {
    name: 'ticket-count',
    everyMs: COUNT_EVERY_MS,
    gauges: [unclosed],
    async run() {
      const rows = await tickets.countUnclosed()
      const counts = new Map(rows.map(({ level, tickets: count }) => [level, count]))
      for (const level of TICKET_LEVELS) unclosed.set(counts.get(level) ?? 0, { level })
    },
  }
}
