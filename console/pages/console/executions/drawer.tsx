import { localTime } from '../../../i18n/local.ts'
import { FactList } from '../../../parts/facts.tsx'
import { LinkedText } from '../../../parts/linked-text.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { Section } from '../../../parts/section.tsx'
import { Timeline } from '../../../parts/timeline.tsx'
import { useQuietReading } from '../../../parts/use-quiet-reading.ts'
import { userLabel } from '../user-names.ts'
import { commandAddress } from '../command-names.ts'
import { ExecutionActions } from './execution-actions.tsx'
import { commandTitle, isOpen, type Execution } from './model.ts'
import { Output } from './output.tsx'
import { executionResource } from './source.ts'
import { WouldRun } from './would-run.tsx'
import { executionWords } from './words.ts'

export interface ExecutionDrawerProps {
  readonly id: string
  readonly onClose: () => void
}

/** One execution: the decision on it, its output as it comes, and its parameters. */
export function ExecutionDrawer({ id, onClose }: ExecutionDrawerProps) {
  const execution = useResource(executionResource, id)
  useQuietReading(execution, {
    isUnsettled() {
      const { status } = execution.value.peek() ?? {}
      return status !== undefined && isOpen(status)
    },
    read: () => execution.refresh(),
    failure: execution.failure,
  })
  return (
    <ResourceDrawer id={id} model={execution} titleOf={commandTitle} onClose={onClose}>
      {(shown) => (
        <>
          <ExecutionActions execution={shown} model={execution} />
          {shown.status === 'awaiting_approval' ? (
            <WouldRun execution={shown} />
          ) : (
            <Output execution={shown} onNews={() => void execution.refresh()} />
          )}
          <ExecutionParameters execution={shown} />
          <ExecutionFacts execution={shown} />
          <ExecutionDecisions execution={shown} />
        </>
      )}
    </ResourceDrawer>
  )
}

interface ExecutionProps {
  readonly execution: Execution
}

function ExecutionParameters({ execution: { params } }: ExecutionProps) {
  const entries = Object.entries(params)
  if (entries.length === 0) return null
  return (
    <Section title={executionWords().parameters}>
      <FactList facts={entries.map(([name, value]) => [name, String(value)])} />
    </Section>
  )
}

const TIMES = ['created_at', 'started_at', 'finished_at'] as const

function ExecutionFacts({ execution }: ExecutionProps) {
  const { fields, statusReasons } = executionWords()
  const { exit_code, expires_at, status, status_reason } = execution
  return (
    <FactList
      facts={[
        [fields.command_id, <CommandLink id={execution.command_id} />],
        [fields.status_reason, status_reason && statusReasons[status_reason]],
        [fields.reason, execution.reason],
        [fields.requested_by, userLabel(execution.requested_by)],
        ...TIMES.map((name) => [fields[name], execution[name] && localTime(execution[name])] as const),
        [fields.expires_at, status === 'awaiting_approval' ? localTime(expires_at) : null],
        [fields.exit_code, exit_code === null ? null : String(exit_code)],
        [fields.signal, execution.signal],
        [fields.host, execution.host],
      ]}
    />
  )
}

function CommandLink({ id }: { readonly id: string }) {
  const address = commandAddress(id)
  if (address === undefined) return <bdi class="mono">{id}</bdi>
  return (
    <a class="mono" href={address}>
      {id}
    </a>
  )
}

function ExecutionDecisions({ execution: { approvals } }: ExecutionProps) {
  const words = executionWords()
  if (approvals.length === 0) return null
  return (
    <Section title={words.decisions}>
      <Timeline
        label={words.decisions}
        entries={approvals.map(({ at, by, decision, comment }) => ({
          key: at,
          at,
          tone: decision === 'approved' ? 'good' : 'danger',
          title: words.decided[decision],
          note: (
            <bdi>
              <LinkedText text={[words.by(userLabel(by)), comment].filter(Boolean).join(' · ')} />
            </bdi>
          ),
        }))}
      />
    </Section>
  )
}
