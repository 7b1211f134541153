import type { FormSchema } from '../../../parts/form/form-fields.ts'
import { userChoices } from '../user-names.ts'

/** The schema with the users whom a ticket can be assigned to; the present assignee stays possible. */
export function withAssignees(schema: FormSchema, present: string | null = null): FormSchema {
  const users = new Set([...userChoices(), ...(present === null ? [] : [present])])
  return { ...schema, properties: { ...schema.properties, assignee: { enum: [...users] } } }
}
