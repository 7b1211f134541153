import { useSignal } from '@preact/signals'
import type { AnswerOf } from '../../../api/operations.ts'
import type { FormSchema } from '../../../parts/form/form-fields.ts'
import { SchemaForm } from '../../../parts/form/schema-form.tsx'
import { Section } from '../../../parts/section.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { call, session } from '../platform.ts'
import { userChoices, userLabel } from '../user-names.ts'
import { commandPolicyWords } from './words.ts'

/** Says whether a user may run a command, and why. Only administrators choose the user by name. */
export function AccessCheck({ id }: { readonly id: string }) {
  const words = commandPolicyWords()
  const explained = useSignal<AnswerOf<'explainCommandAccess'> | null>(null)
  const explain = async (body: { readonly user_id?: string }) => {
    const { user_id = '' } = body
    const result = await call('explainCommandAccess', { path: { id }, query: { user_id } })
    explained.value = result.ok ? result.value : null
    return result.ok ? null : result.failure
  }
  const isChoice = session.may('listUsers')
  const { user_id } = words.fields
  return (
    <Section title={words.access}>
      <SchemaForm
        schema={accessSchema(isChoice)}
        labels={{ user_id }}
        hints={isChoice ? {} : words.hints}
        labelOf={(_, value) => userLabel(value)}
        action={words.explain}
        send={explain}
      />
      <div role="status">{explained.value && <Explanation {...explained.value} />}</div>
    </Section>
  )
}

function accessSchema(isChoice: boolean): FormSchema {
  return {
    required: ['user_id'],
    properties: { user_id: isChoice ? { enum: userChoices() } : { type: 'string' } },
  }
}

function Explanation({ allowed, rule, user }: AnswerOf<'explainCommandAccess'>) {
  const words = commandPolicyWords()
  return (
    <>
      <StatusBadge tone={allowed ? 'good' : 'warning'} label={allowed ? words.allowed : words.notAllowed} />
      <p>{user.enabled ? words.because(rule, user.roles) : words.disabled}</p>
    </>
  )
}
