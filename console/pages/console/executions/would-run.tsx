import { Section } from '../../../parts/section.tsx'
import { commandLineOf } from '../commands/model.ts'
import type { Execution } from './model.ts'
import { executionWords } from './words.ts'

/** The command line of a request that awaits its approval. */
export function WouldRun({ execution: { would_run } }: { readonly execution: Execution }) {
  if (!would_run) return null
  return (
    <Section title={executionWords().wouldRun}>
      <pre class="mono command-text">
        <bdi>{commandLineOf(would_run)}</bdi>
      </pre>
    </Section>
  )
}
