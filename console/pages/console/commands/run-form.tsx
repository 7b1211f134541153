import { useSignal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import type { ApiFailure, ApiResult, BodyOf } from '../../../api/operations.ts'
import { SchemaForm } from '../../../parts/form/schema-form.tsx'
import { useListRefresh } from '../../../parts/list/list-refresh.ts'
import { showToast } from '../../../parts/toast.tsx'
import { call } from '../platform.ts'
import { pathOf } from '../view.ts'
import { commandLineOf, parameterHints, parameterLabels, requestSchema, type Command } from './model.ts'
import { commandWords } from './words.ts'

/** Asks for the parameters of a command, checks them or requests the execution, and then shows the execution. */
export function RunForm({ command }: { readonly command: Command }) {
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
    route(`${pathOf({ name: 'executions' })}/${outcome.value.id}`)
    return null
  }
  return (
    <>
      <SchemaForm
        schema={requestSchema(command)}
        labels={{ ...parameterLabels(command), reason: words.fields.reason }}
        hints={{ ...parameterHints(command), ...(needsApproval && words.hints) }}
        action={needsApproval ? words.request : words.run}
        send={run}
        other={{ action: words.check, send: check }}
        keepAs={`run ${command.id}`}
      />
      <p role="status">{checked.value !== null && words.wouldRun(checked.value)}</p>
    </>
  )
}

function failureOf(outcome: ApiResult<unknown>): ApiFailure | null {
  return outcome.ok ? null : outcome.failure
}
