/** A JSON object in an answer of the drive. Nothing in it is certain. */
export type JsonMembers = Readonly<Record<string, unknown>>

/** The text of a member; empty when it is no text and no number. */
export function textOf(members: JsonMembers, name: string): string {
  const value = members[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** The objects in a list; none when it is no list. */
export function objectsIn(value: unknown): JsonMembers[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'object' && each !== null) : []
}
