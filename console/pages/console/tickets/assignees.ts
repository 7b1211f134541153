import type { FormSchema } from '../../../parts/form/form-fields.ts'
import { session } from '../platform.ts'
import { enabledUserChoices } from '../user-names.ts'

/** The users whom a ticket can be assigned to, the reader first; the present assignee stays possible. */
export function assigneeChoices(present: string | null = null): readonly string[] {
  const ids = [session.bearer.value?.id, ...enabledUserChoices(), present]
  return [...new Set(ids.filter((id) => id !== undefined && id !== null))]
}

/** The schema with these users. */
export function withAssignees(schema: FormSchema, present: string | null = null): FormSchema {
  const assignee = { enum: assigneeChoices(present) }
  return { ...schema, properties: { ...schema.properties, assignee } }
}
