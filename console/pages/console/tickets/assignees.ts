import type { FormSchema } from '../../../parts/form/form-fields.ts'
import { session } from '../platform.ts'
import { enabledUserChoices } from '../user-names.ts'

/** The schema with the users whom a ticket can be assigned to, the reader first; the present assignee stays possible. */
export function withAssignees(schema: FormSchema, present: string | null = null): FormSchema {
  const own = session.bearer.value?.id
  const ids = [own, ...enabledUserChoices(), present]
  const users = new Set(ids.filter((id) => id !== undefined && id !== null))
  return { ...schema, properties: { ...schema.properties, assignee: { enum: [...users] } } }
}
