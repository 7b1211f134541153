import { invalidField } from '../kernel/errors.ts'

// A tag may contain commas (RFC 9110, section 8.8.3), and a list empty elements (section 5.6.1.2).
const ENTITY_TAG = /(?:W\/)?"[^"]*"/g
const LIST = /^[\s,]*(?:W\/)?"[^"]*"(?:\s*,[\s,]*(?:W\/)?"[^"]*")*[\s,]*$/
const OWN_TAG = /^(?:W\/)?"(\d{1,15})"$/

/**
 * The versions that an `If-Match` header names (RFC 9110, section 13.1.1), or undefined when any will do (`*`, or no
 * header). A foreign tag becomes version 0, which no object has. A weak tag counts: a proxy that compresses a response
 * makes its tag weak, and a version names the same object in every encoding.
 */
export function parseIfMatch(header: string | undefined): readonly number[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined
  if (!LIST.test(header))
    throw invalidField('If-Match', 'invalid', { reason: 'must be "*" or entity tags in quotes' })
  const tags = header.match(ENTITY_TAG) ?? []
  return tags.map((tag) => Number(OWN_TAG.exec(tag)?.[1] ?? 0))
}

/** The `ETag` header of a version (RFC 9110, section 8.8.3). */
export function entityTag(version: number): { readonly etag: string } {
  return { etag: `"${version}"` }
}

/** Whether a list of entity tags, or `*`, names this one (RFC 9110, sections 8.8.3.2 and 13.1). */
export function matchesTag(header: string, entityTag: string, comparison: 'strong' | 'weak'): boolean {
  if (header.trim() === '*') return true
  const tags = header.split(',').map((tag) => tag.trim())
  const comparable = comparison === 'weak' ? tags.map((tag) => tag.replace(/^W\//, '')) : tags
  return comparable.includes(entityTag)
}
