const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[?::1\]?|(?:[a-z0-9-]+\.)*localhost)\.?$/i

/** Whether the host of a URL (`url.hostname`) is this machine: 127.0.0.0/8, `::1`, or a name below `localhost` (RFC 6761). */
export function isLoopbackHost(hostname: string): boolean {
  return LOOPBACK.test(hostname)
}
