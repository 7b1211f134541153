import { useLocation } from 'preact-iso/router'
import { LinkChoice } from '../../../parts/link-choice.tsx'
import { readListQuery, withFilter } from '../../../parts/list/list-query.ts'
import { partWords } from '../../../parts/part-words.ts'
import { ALERT_FILTERS, LISTED_SEVERITIES } from './model.ts'
import { alertWords } from './words.ts'

/** The severities, the most severe one first: the API has no order by them, so that one click shows those of one. */
export function SeverityChips({ path }: { readonly path: string }) {
  const { fields, severities } = alertWords()
  const query = readListQuery(useLocation().query, ALERT_FILTERS)
  const level = query['level'] ?? ''
  const chip = (value: string, title: string) => ({
    title,
    href: withFilter(path, query, 'level', value),
    isCurrent: value === level,
  })
  return (
    <LinkChoice
      label={fields.severity}
      choices={[chip('', partWords().all), ...LISTED_SEVERITIES.map((each) => chip(each, severities[each]))]}
    />
  )
}
