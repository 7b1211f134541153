import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { approvalText, rolesText } from './labels.ts'
import { approversOf, type CommandRule } from './model.ts'
import type { commandPolicyWords } from './words.ts'

export function commandRuleColumns({
  fields,
  noRule,
  isMissing: isMissingText,
}: ReturnType<typeof commandPolicyWords>): readonly TableColumn<CommandRule>[] {
  return [
    {
      key: 'id',
      title: fields.id,
      cell: ({ id, title, isMissing }) => (
        <>
          <bdi class="mono">{id}</bdi>
          {title !== null && title !== id && <bdi class="muted row-note">{title}</bdi>}
          {isMissing && <span class="muted">{` (${isMissingText})`}</span>}
        </>
      ),
    },
    {
      key: 'roles',
      title: fields.roles,
      cell: ({ rule }) =>
        rule ? rolesText(rule.roles) : <span class="muted">{`${rolesText(['admin'])} (${noRule})`}</span>,
    },
    {
      key: 'approvers',
      title: fields.approvers,
      isWideOnly: true,
      cell: ({ rule }) => rolesText(approversOf(rule)),
    },
    {
      key: 'approval',
      title: fields.approval,
      isWideOnly: true,
      cell: ({ rule, approval }) => approvalText(rule, approval ?? undefined),
    },
  ]
}
