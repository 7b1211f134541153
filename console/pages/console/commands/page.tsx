import { useSignal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import { useRef } from 'preact/hooks'
import type { ApiFailure, ApiResult, BodyOf } from '../../../api/operations.ts'
import { localSeconds } from '../../../i18n/local.ts'
import { useActions, type Action } from '../../../parts/actions/actions.ts'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { SchemaForm } from '../../../parts/form/schema-form.tsx'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { addressOf } from '../../../parts/list/list-query.ts'
import { useListRefresh } from '../../../parts/list/list-refresh.ts'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { partWords } from '../../../parts/part-words.ts'
import { Section } from '../../../parts/section.tsx'
import { EmptyState } from '../../../parts/states.tsx'
import { showToast } from '../../../parts/toast.tsx'
import { session, call } from '../platform.ts'
import { pathOf, type ViewProps } from '../view.ts'
import {
  commandList,
  commandLineOf,
  parameterHints,
  parameterLabels,
  requestSchema,
  type Command,
} from './model.ts'
import { localCommand } from './built-in.ts'
import { commandWords } from './words.ts'

/** The commands that the user may run, and beside them the command that the address names. */
export function CommandsPage({ id }: ViewProps) {
  const words = commandWords()
  return (
    <ObjectsPage
      path={pathOf('commands')}
      source={commandList}
      words={words}
      columns={commandColumns()}
      icon="commands"
      id={id}
      detail={({ id: commandId, item, onClose }) =>
        item ? (
          <CommandDrawer key={commandId} command={item} onClose={onClose} />
        ) : (
          <Drawer title={commandId} onClose={onClose}>
            <EmptyState icon="commands" title={words.notListed} />
          </Drawer>
        )
      }
    />
  )
}

function commandColumns(): readonly TableColumn<Command>[] {
  const { fields, approvals } = commandWords()
  const column = fieldColumns<Command, typeof fields>(fields)
  return [
    column.cell('title', (command) => <bdi>{localCommand(command).title}</bdi>),
    column.code('id', { isWideOnly: true }),
    column.cell('approval', ({ approval }) => approvals[approval]),
    column.cell('timeout_seconds', ({ timeout_seconds }) => localSeconds(timeout_seconds), {
      isNumeric: true,
      isWideOnly: true,
    }),
  ]
}

interface CommandDrawerProps {
  readonly command: Command
  readonly onClose: () => void
}

/** One command, as the list has it, and the form that runs it: the API has no operation that reads one. */
function CommandDrawer({ command, onClose }: CommandDrawerProps) {
  const words = commandWords()
  const { fields } = words
  const { id, title, description, approval, timeout_seconds } = localCommand(command)
  return (
    <Drawer title={title} onClose={onClose}>
      <FactList
        facts={[
          [fields.description, description],
          [fields.id, id],
          [fields.approval, words.approvals[approval]],
          [fields.timeout_seconds, localSeconds(timeout_seconds)],
        ]}
      />
      <Section title={words.run}>
        <RunForm command={command} />
      </Section>
      <p>
        <a href={addressOf(pathOf('executions'), { command_id: id })}>{words.executions}</a>
      </p>
      {session.may('getCommandPolicy') && (
        <p>
          <a href={pathOf('command-policy', id)}>{words.policy}</a>
        </p>
      )}
    </Drawer>
  )
}

/** Asks for the parameters of a command, checks them or requests the execution, and then shows the execution. */
function RunForm({ command }: { readonly command: Command }) {
  const { route } = useLocation()
  const words = commandWords()
  const refreshList = useListRefresh()
  const checked = useSignal<string | null>(null)
  const needsApproval = command.approval === 'two_person'
  const request = async (body: BodyOf<'executeCommand'>) => {
    const outcome = await call('executeCommand', { path: { id: command.id }, body })
    if (!outcome.ok && outcome.failure.code === 'forbidden') {
      showToast('warning', words.policyChanged)
      refreshList()
    }
    return outcome
  }
  const check = async (body: object) => {
    const outcome = await request({ ...body, dry_run: true })
    checked.value = outcome.ok && !('id' in outcome.value) ? commandLineOf(outcome.value.would_run) : null
    return failureOf(outcome)
  }
  const run = async (body: object) => {
    const outcome = await request(body)
    if (!outcome.ok || !('id' in outcome.value)) return failureOf(outcome)
    showToast('good', needsApproval ? words.awaiting : words.queued)
    route(pathOf('executions', outcome.value.id))
    return null
  }
  const frame = useRef<HTMLDivElement>(null)
  const [main, other] = [needsApproval ? words.request : words.run, words.check]
  useActions(() => [
    buttonAction(main, '1', () => frame.current?.querySelector('.button-main')),
    buttonAction(other, '2', () => frame.current?.querySelector('.button:not(.button-main)')),
  ])
  return (
    <div ref={frame}>
      <SchemaForm
        schema={requestSchema(command)}
        labels={{ ...parameterLabels(command), reason: words.fields.reason }}
        hints={{ ...parameterHints(command), ...(needsApproval && words.hints) }}
        action={main}
        send={run}
        other={{ action: other, send: check }}
        keepAs={`run ${command.id}`}
      />
      <p role="status">{checked.value !== null && words.wouldRun(checked.value)}</p>
    </div>
  )
}

/** Moves to a button of the form by a digit, as in the bar of an object. */
function buttonAction(title: string, keys: string, button: () => HTMLElement | null | undefined): Action {
  return { title: partWords().toButton(title), keys, isKeyOnly: true, run: () => button()?.focus() }
}

function failureOf(outcome: ApiResult<unknown>): ApiFailure | null {
  return outcome.ok ? null : outcome.failure
}
