import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'
import { SECOND } from '../kernel/time.ts'

// A lost first packet is sent again after a second (RFC 6298, section 2); the shortest limit of a call is 5 s.
const ATTEMPT_MS = 2 * SECOND

/**
 * Gives an address of a name 2 s to answer before the next one is tried. Node.js gives it half a second, and gives it up: a
 * server that is far away, or whose first packet is lost, could not be reached where its other addresses cannot.
 */
export function extendConnectionAttempts(): void {
  setDefaultAutoSelectFamilyAttemptTimeout(ATTEMPT_MS)
}
