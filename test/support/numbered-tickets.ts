import type { Arrival } from './bus-reader.ts'

/** Events of clients that number what they create: each lane from 1 on. */
export const NUMBERED_SUBJECT = 'ticket.created'

/** The body of a ticket whose event has this number in its lane. */
export function numberedTicket(lane: string, number: number) {
  return { title: `${lane}/${number}`, level: 'info' }
}

/** The numbers of a lane, in the order in which their events arrived. */
export function numbersOfLane(lane: string, arrivals: readonly Pick<Arrival, 'subject' | 'payload'>[]) {
  return arrivals.flatMap(({ subject, payload }) => {
    const number = subject === NUMBERED_SUBJECT ? numberIn(lane, payload) : undefined
    return number === undefined ? [] : [number]
  })
}

function numberIn(lane: string, payload: string): number | undefined {
  const { title } = (JSON.parse(payload) as { data: { title: string } }).data
  return title.startsWith(`${lane}/`) ? Number(title.slice(lane.length + 1)) : undefined
}
