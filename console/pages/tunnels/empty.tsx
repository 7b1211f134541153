import { EmptyState } from '../../parts/states.tsx'
import { tunnelWords } from './words.ts'

/** What to do when there is no session. */
export function Empty() {
  const words = tunnelWords()
  return (
    <EmptyState icon="tunnels" title={words.empty}>
      <p>{words.emptyHint}</p>
      <pre class="command-line mono" tabIndex={0} aria-label={words.command}>
        <code>platform vpn connect --gateway {location.origin} --token-file token.txt</code>
      </pre>
    </EmptyState>
  )
}
