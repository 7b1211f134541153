import { Section } from '../../../parts/section.tsx'
import { useResource, type ResourceSource } from '../../../parts/resource/use-resource.ts'
import { commandLineOf } from '../commands/model.ts'
import { call, live } from '../platform.ts'
import type { Execution } from './model.ts'
import { executionWords } from './words.ts'

// The arguments of a request do not change.
const wouldRunResource: ResourceSource<{ readonly line: string | null }> = {
  live,
  prefix: 'command.',
  isAbout: () => false,
  async read(request, signal) {
    const { id, params, reason } = JSON.parse(request) as Asked
    const body = { params, dry_run: true, ...(reason !== null && { reason }) }
    const checked = await call('executeCommand', { path: { id }, body }, signal)
    if (!checked.ok) return checked
    const line = 'would_run' in checked.value ? commandLineOf(checked.value.would_run) : null
    return { ok: true, value: { line }, etag: null }
  },
}

interface Asked extends Pick<Execution, 'params' | 'reason'> {
  readonly id: string
}

/** The command line of a request, for who decides on it; nothing for users who may not run the command. */
export function WouldRun({ execution }: { readonly execution: Execution }) {
  const { command_id: id, params, reason } = execution
  const asked: Asked = { id, params, reason }
  const line = useResource(wouldRunResource, JSON.stringify(asked)).value.value?.line ?? null
  if (line === null) return null
  return (
    <Section title={executionWords().wouldRun}>
      <pre class="mono command-text">
        <bdi>{line}</bdi>
      </pre>
    </Section>
  )
}
