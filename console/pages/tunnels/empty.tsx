import { EmptyState } from '../../parts/states.tsx'

/** What to do when there is no session. */
export function Empty() {
  return (
    <EmptyState icon="tunnels" title="No tunnel is open">
      <p>Connect a client with a token of its user. It appears here within two seconds.</p>
      <pre class="command-line mono" tabIndex={0} aria-label="Command that connects a client">
        <code>platform vpn connect --gateway {location.origin} --token-file token.txt</code>
      </pre>
    </EmptyState>
  )
}
