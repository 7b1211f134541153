import { localTime } from '../../../i18n/local.ts'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { Section } from '../../../parts/section.tsx'
import { pathOf, type ViewProps } from '../view.ts'
import {
  auditRows,
  changeLines,
  AUDIT_OUTCOME_TONES,
  targetAddress,
  targetText,
  type AuditRow,
} from './model.ts'
import { operationLabel } from './operation-words.ts'
import { auditWords } from './words.ts'

const PATH = pathOf('audit')

/** The audit trail: the list, and beside it the row that the address names. */
export function AuditTrailPage({ id }: ViewProps) {
  const words = auditWords()
  return (
    <ObjectsPage
      path={PATH}
      source={auditRows}
      words={words}
      labelOf={(_name, value) => value}
      columns={rowColumns()}
      icon="audit"
      id={id}
      detail={({ item, onClose }) => item && <RowDrawer key={item.id} row={item} onClose={onClose} />}
    />
  )
}

function rowColumns(): readonly TableColumn<AuditRow>[] {
  const { fields, outcomes } = auditWords()
  const column = fieldColumns<AuditRow, typeof fields>(fields)
  return [
    column.cell('operation', ({ operation }) => <bdi>{operationLabel(operation)}</bdi>),
    column.cell('actor', ({ actor }) => <bdi>{actor.name}</bdi>, { isFromMedium: true }),
    column.status('outcome', AUDIT_OUTCOME_TONES, outcomes),
    column.cell('target', (row) => <bdi class="mono">{targetText(row)}</bdi>, { isWideOnly: true }),
    column.time('at', { isWideOnly: true, isFromMedium: true }),
  ]
}

/** The changed object, as a link to its page. */
function Target({ row }: { readonly row: AuditRow }) {
  const text = <bdi class="mono">{targetText(row)}</bdi>
  const href = targetAddress(row)
  return href === undefined ? text : <a href={href}>{text}</a>
}

interface RowDrawerProps {
  readonly row: AuditRow
  readonly onClose: () => void
}

/** Shows a row of the list: the API has no operation that reads one row. */
function RowDrawer({ row, onClose }: RowDrawerProps) {
  const { fields, outcomes, kinds, changes, changed } = auditWords()
  const { actor, outcome } = row
  const lines = changeLines(row)
  return (
    <Drawer title={operationLabel(row.operation)} onClose={onClose}>
      <ObjectActions status={{ tone: AUDIT_OUTCOME_TONES[outcome], label: outcomes[outcome] }} actions={[]} />
      <FactList
        facts={[
          [fields.at, localTime(row.at)],
          [fields.actor, actor.name],
          [fields.kind, kinds[actor.kind]],
          [fields.actor_id, actor.id],
          [fields.operation_name, <bdi class="mono">{row.operation}</bdi>],
          [fields.target, <Target row={row} />],
          [fields.remote_address, row.remote_address],
          [fields.request_id, row.request_id],
        ]}
      />
      {lines.length > 0 && (
        <Section title={changes}>
          <FactList facts={lines.map(([name, from, to]) => [name, changed(from, to)])} />
        </Section>
      )}
    </Drawer>
  )
}
