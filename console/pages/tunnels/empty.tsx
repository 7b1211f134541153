/** What to do when there is no session. */
export function Empty() {
  return (
    <div class="empty">
      <h3>No tunnel is open</h3>
      <p class="muted">Connect a client with a token of its user. It appears here within two seconds.</p>
      <pre class="command" tabIndex={0} aria-label="Command that connects a client">
        <code>platform vpn connect --gateway {location.origin} --token-file token.txt</code>
      </pre>
    </div>
  )
}
