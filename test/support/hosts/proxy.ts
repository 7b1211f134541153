import { writeFileSync } from 'node:fs'
import { CLIENT_ADDRESS, startOn, type Host } from './network.ts'
import { inSandbox } from './sandbox.ts'

export const API_PORT = 9600

/**
 * Starts HAProxy before the apis: port 80 for all callers, and port 9600 for the gateways and
 * this process, whose identity headers count.
 */
export function startProxy(
  proxy: Host,
  { apis, gateways }: Record<'apis' | 'gateways', readonly Host[]>,
): void {
  const servers = apis.map(({ name, address }) => `  server ${name} ${address}:${API_PORT}`).join('\n')
  const sources = [CLIENT_ADDRESS, ...gateways.map(({ address }) => address)].join(' ')
  const file = inSandbox('haproxy.conf')
  writeFileSync(
    file,
    `
defaults
  mode http
  timeout connect 500ms
  timeout client 30s
  timeout server 15s
  timeout check 400ms
  option redispatch 1
  retries 2
  retry-on conn-failure
frontend public
  bind ${proxy.address}:80
  http-request del-header X-User-Id
  http-request del-header X-User-Name
  http-request del-header X-User-Roles
  http-request set-header X-Forwarded-For %[src]
  default_backend apis
frontend gateways
  bind ${proxy.address}:${API_PORT}
  http-request deny unless { src ${sources} }
  default_backend apis
backend apis
  option httpchk GET /health
  default-server check inter 500ms fastinter 200ms downinter 500ms fall 2 rise 1 on-marked-down shutdown-sessions observe layer4 error-limit 1 on-error mark-down
${servers}
`,
  )
  startOn(proxy, 'haproxy', ['haproxy', '-f', file, '-db'])
}
