import { OPERATIONS } from './generated.ts'
import type { OperationName } from './operations.ts'

type Access = 'public' | 'authenticated' | 'policy' | readonly string[]

/** Whether callers with these roles may call the operation. One that a policy decides on is allowed here. */
export function mayCall(roles: readonly string[], name: OperationName): boolean {
  const access: Access = OPERATIONS[name].access
  return typeof access === 'string' || access.some((role) => roles.includes(role))
}
