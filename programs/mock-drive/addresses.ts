const LOOPBACK_HOST = /^(?:127(?:\.\d{1,3}){3}|localhost|\[::1\])(?::\d{1,5})?$/

/** The base that a client has used, so that its URLs pass the same proxy; undefined for another host. */
export function baseOfHost(host: string | undefined): string | undefined {
  return host !== undefined && LOOPBACK_HOST.test(host) ? `http://${host}` : undefined
}
