const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[?::1\]?|(?:[a-z0-9-]+\.)*localhost)\.?$/i

/** Whether the host of a URL (`url.hostname`) is this machine: 127.0.0.0/8, `::1`, or a name below `localhost` (RFC 6761). */
export function isLoopbackHost(hostname: string): boolean {
  return LOOPBACK.test(hostname)
}

// RFC 1918, RFC 6598, RFC 3927, RFC 4193 and RFC 4291
const PRIVATE_IPV4 =
  /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|169\.254\.)[\d.]+$/
const PRIVATE_IPV6 = /^\[(?:f[cd]|fe[89ab])[0-9a-f:]*\]$/i

/** Whether the host of a URL (`url.hostname`) is this machine, or an IP address that is not routed on the internet. */
export function isPrivateHost(hostname: string): boolean {
  return isLoopbackHost(hostname) || PRIVATE_IPV4.test(hostname) || PRIVATE_IPV6.test(hostname)
}
