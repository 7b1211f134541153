import { invalidField } from '../kernel/errors.ts'

const TAG = /^(?:W\/)?"(\d{1,15})"$/

/**
 * The versions that an `If-Match` header names (RFC 9110, section 13.1.1), or undefined when any will do (`*`, or no
 * header). A tag that is none of ours names version 0, which nothing has; a weak one never matches.
 */
export function parseIfMatch(header: string | undefined): readonly number[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined
  const tags = header.split(',').map((tag) => tag.trim())
  if (tags.some((tag) => !/^(?:W\/)?"[^"]*"$/.test(tag)))
    throw invalidField('If-Match', 'must be "*" or entity tags in quotes')
  return tags.map((tag) => (tag.startsWith('W/') ? 0 : Number(TAG.exec(tag)?.[1] ?? 0)))
}
