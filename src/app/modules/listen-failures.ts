/** Why a server cannot listen, by the code of the error. */
export const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses this port',
  EADDRNOTAVAIL: 'this host does not have this address',
  EACCES: 'this port needs privileges',
}
