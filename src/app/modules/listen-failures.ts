/** Why a server cannot listen, and what to do. */
export interface ListenFailure {
  readonly reason: string
  /** Completes the sentence "… or change the setting". */
  readonly remedy: string
}

/** By the code of the error. */
export const LISTEN_FAILURES: Readonly<Record<string, ListenFailure>> = {
  EADDRINUSE: { reason: 'another program uses this port', remedy: 'end that program (ss -ltnp shows it)' },
  EADDRNOTAVAIL: {
    reason: 'this host does not have this address',
    remedy: 'give the host this address (ip address shows those that it has)',
  },
  EACCES: {
    reason: 'this port needs privileges',
    remedy: 'let a reverse proxy listen on this port',
  },
}
