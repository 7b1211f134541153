/** Whether a list of entity tags, or `*`, names this one (RFC 9110, sections 8.8.3.2 and 13.1). */
export function matchesTag(header: string, entityTag: string, comparison: 'strong' | 'weak'): boolean {
  if (header.trim() === '*') return true
  const tags = header.split(',').map((tag) => tag.trim())
  const comparable = comparison === 'weak' ? tags.map((tag) => tag.replace(/^W\//, '')) : tags
  return comparable.includes(entityTag)
}
