import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { browserTiming, fetchHere } from '../../../api/browser.ts'
import { ExecutionOutput } from '../../../api/execution-output.ts'
import { BODIES } from '../../../api/generated.ts'
import { toHttp } from '../../../api/operations.ts'
import { isolateText } from '../../../i18n/isolate-text.ts'
import { localTime } from '../../../i18n/local.ts'
import { useActions } from '../../../parts/actions/actions.ts'
import { Button } from '../../../parts/button.tsx'
import { CopyButton } from '../../../parts/command-line.tsx'
import { confirmAction } from '../../../parts/confirm.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { LinkedText } from '../../../parts/linked-text.tsx'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { partWords } from '../../../parts/part-words.ts'
import { ChangeDialog } from '../../../parts/resource/change-dialog.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { useChange, type ChangeActions } from '../../../parts/resource/use-change.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { Section } from '../../../parts/section.tsx'
import { Timeline } from '../../../parts/timeline.tsx'
import { saveFile } from '../../../parts/use-download.ts'
import { useBackgroundReading } from '../../../parts/use-background-reading.ts'
import { visibleText, withoutEscapes } from '../../../parts/visible-text.ts'
import { commandLabel, commandAddress } from '../command-names.ts'
import { rolesText } from '../command-policy/labels.ts'
import { commandLineOf } from '../commands/model.ts'
import { session, call } from '../platform.ts'
import { listOf, resourceOf } from '../sources.ts'
import { byUser, userLabel } from '../user-names.ts'
import { pathOf, type DetailProps, type ViewProps } from '../view.ts'
import {
  commandTitle,
  EXECUTION_TONES,
  paramsText,
  isOpen,
  EXECUTION_FILTERS,
  executionIn,
  type ExecutionStatus,
  type Execution,
} from './model.ts'
import { isOwnRequest, mayDecide } from './requests.ts'
import { executionWords } from './words.ts'

/** The executions of commands, and beside them the execution that the address names. */
export function ExecutionsPage({ id }: ViewProps) {
  const words = executionWords()
  return (
    <ObjectsPage
      path={pathOf('executions')}
      source={executionList}
      words={words}
      labelOf={(name, value) => {
        if (name === 'requested_by') return userLabel(value)
        return name === 'command_id' ? commandLabel(value) : words.statuses[value as ExecutionStatus]
      }}
      columns={executionColumns()}
      icon="executions"
      id={id}
      detail={(detail) => <ExecutionDrawer key={detail.id} {...detail} />}
    />
  )
}

function executionColumns(): readonly TableColumn<Execution>[] {
  const { fields, statuses } = executionWords()
  const column = fieldColumns<Execution, typeof fields>(fields)
  return [
    column.cell('command_id', (execution) => <bdi>{commandTitle(execution)}</bdi>),
    column.status('status', EXECUTION_TONES, statuses),
    column.cell('requested_by', ({ requested_by }) => <bdi>{userLabel(requested_by)}</bdi>, {
      isWideOnly: true,
    }),
    column.cell('params', ({ params }) => <bdi class="mono">{paramsText(params)}</bdi>, {
      isFromMedium: true,
    }),
    column.text('reason', { isWideOnly: true }),
    column.time('created_at', { isFromMedium: true }),
  ]
}

/** One execution: the decision on it, its output as it comes, and its parameters. */
function ExecutionDrawer({ id, onClose }: DetailProps) {
  const model = useResource(executionResource, id)
  useBackgroundReading(model, {
    mayChangeWithoutEvent() {
      const { status } = model.value.peek() ?? {}
      return status !== undefined && isOpen(status)
    },
    read: () => model.refresh(),
    failure: model.failure,
  })
  return (
    <ResourceDrawer id={id} model={model} titleOf={commandTitle} onClose={onClose}>
      {(execution) => (
        <>
          <ExecutionActions execution={execution} model={model} />
          {execution.status === 'awaiting_approval' ? (
            <WouldRun execution={execution} />
          ) : (
            <Output execution={execution} onNews={() => void model.refresh()} />
          )}
          <ExecutionParameters execution={execution} />
          <ExecutionFacts execution={execution} />
          <ExecutionDecisions execution={execution} />
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
              <LinkedText text={[byUser(by), comment].filter(Boolean).join(' · ')} />
            </bdi>
          ),
        }))}
      />
    </Section>
  )
}

/** The command line of a request that awaits its approval. */
function WouldRun({ execution: { would_run } }: { readonly execution: Execution }) {
  if (!would_run) return null
  return (
    <Section title={executionWords().wouldRun}>
      <pre class="mono command-text">
        <bdi>{commandLineOf(would_run)}</bdi>
      </pre>
    </Section>
  )
}

interface OutputProps {
  readonly execution: Execution
  /** The execution may have another state. */
  readonly onNews: () => void
}

/** What an execution writes, as it comes. */
function Output({ execution: { id, status }, onNews }: OutputProps) {
  const words = executionWords()
  const output = useMemo(() => {
    const open = (place: string, signal: AbortSignal) => openStream(id, place, signal)
    return new ExecutionOutput({ open, wait: browserTiming.wait, onNews })
  }, [id])
  const token = session.token.value
  useEffect(() => {
    if (token === null) return undefined
    const stopped = new AbortController()
    void output.follow(stopped.signal)
    return () => stopped.abort()
  }, [output, token])
  const text = output.text.value
  return (
    <Section title={words.output}>
      {output.isCut.value && <p class="muted">{words.outputBegin}</p>}
      {text === '' ? (
        <p class="muted">{isOpen(status) ? words.waiting : words.noOutput}</p>
      ) : (
        <OutputText id={id} label={words.output} text={visibleText(withoutEscapes(text))} />
      )}
    </Section>
  )
}

async function openStream(id: string, place: string, signal: AbortSignal): Promise<Response> {
  const token = session.token.peek()
  const { target, init } = toHttp('followExecutionOutput', { path: { id } }, token)
  const headers = { ...init.headers, ...(place && { 'last-event-id': place }) }
  const response = await fetchHere(target, { ...init, headers, cache: 'no-store', signal })
  // Only this token was refused: the session may have another one by now.
  if (response.status === 401 && token !== null) session.refuse(token)
  return response
}

interface OutputTextProps {
  /** The id of the execution. */
  readonly id: string
  readonly label: string
  readonly text: string
}

/** The output as text, scrolled to its end. It can be enlarged to the whole window, copied and saved. */
function OutputText({ id, label, text }: OutputTextProps) {
  const { wide } = executionWords()
  const region = useRef<HTMLPreElement>(null)
  const isWide = useSignal(false)
  const narrow = { title: wide, keys: 'Escape', isKeyOnly: true, run: () => (isWide.value = false) }
  useActions(() => (isWide.value ? [narrow] : []))
  const save = () =>
    saveFile({ name: `execution-${id}.txt`, content: new Blob([text], { type: 'text/plain' }) })
  useEffect(() => region.current?.scrollTo({ top: region.current.scrollHeight }), [text])
  return (
    <div class={isWide.value ? 'output-frame output-wide' : 'output-frame'}>
      <div class="actions">
        <Button aria-pressed={isWide.value} onClick={() => (isWide.value = !isWide.value)}>
          {wide}
        </Button>
        <CopyButton text={text} />
        <Button onClick={save}>{partWords().download}</Button>
      </div>
      <pre class="output" role="log" aria-label={label} tabIndex={0} ref={region}>
        {text}
      </pre>
    </div>
  )
}

const PREFIX = 'command.'

/** The executions, newest first. */
const executionList = listOf('listExecutions', PREFIX, {
  filters: EXECUTION_FILTERS,
  keyOf: ({ id }) => id,
  fromEvent: executionIn,
  // No event says that an execution has started, and most roles receive no events of executions.
  mayChangeWithoutEvent: ({ status }) => isOpen(status),
})

/** One execution. */
const executionResource = resourceOf('getExecution', PREFIX, (id) => ({ path: { id } }), {
  isAbout: (event, id) => executionIn(event)?.id === id,
})

interface ExecutionActionsProps {
  readonly execution: Execution
  readonly model: ResourceModel<Execution>
}

type Decision = 'approve' | 'reject'

/** What the user may do with an execution. Nobody decides on an own request. */
function ExecutionActions({ execution, model }: ExecutionActionsProps) {
  const words = executionWords()
  const decision = useSignal<Decision | null>(null)
  const { apply, applyAndReport } = useChange(model)
  const { id, status } = execution
  const approvers = execution.approvers ?? []
  const isWaiting = status === 'awaiting_approval'
  const isDecidable = mayDecide(execution)
  const decide = (chosen: Decision) => () => (decision.value = chosen)
  const cancel = async () => {
    const { done, ...question } = words.cancel
    if (!(await confirmAction({ ...question, isDestructive: true }))) return
    await applyAndReport({ send: () => call('cancelExecution', { path: { id } }), done })
  }
  return (
    <ObjectActions
      status={{ tone: EXECUTION_TONES[status], label: words.statuses[status] }}
      actions={[
        isDecidable && { title: words.approve, run: decide('approve') },
        isDecidable && { title: words.reject, isDestructive: true, run: decide('reject') },
        (status === 'queued' || status === 'running') && {
          title: words.cancel.action,
          isDestructive: true,
          run: cancel,
        },
      ]}
    >
      {isWaiting && isOwnRequest(execution) && <p class="muted">{words.own}</p>}
      {isWaiting && <p class="muted">{words.deciders(rolesText(approvers))}</p>}
      {decision.value && (
        <Decide
          execution={execution}
          decision={decision.value}
          apply={apply}
          onClose={() => (decision.value = null)}
        />
      )}
    </ObjectActions>
  )
}

interface DecideProps {
  readonly execution: Execution
  readonly decision: Decision
  readonly apply: ChangeActions<Execution>['apply']
  readonly onClose: () => void
}

function Decide({ execution, decision, apply, onClose }: DecideProps) {
  const words = executionWords()
  const { id, params, requested_by, reason } = execution
  const command = [commandTitle(execution), paramsText(params)].filter(Boolean).join(' ')
  const operation = decision === 'approve' ? 'approveExecution' : 'rejectExecution'
  return (
    <ChangeDialog
      title={words[decision]}
      text={
        decision === 'approve'
          ? words.approveText(isolateText(command), isolateText(userLabel(requested_by)), reason ?? '–')
          : words.rejectText
      }
      schema={BODIES[operation]}
      labels={{ comment: words.fields.comment }}
      action={words[decision]}
      apply={apply}
      request={(body) => call(operation, { path: { id }, body })}
      done={decision === 'approve' ? words.approved : words.rejected}
      onClose={onClose}
    />
  )
}
