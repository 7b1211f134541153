import { useSignal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import { BODIES } from '../../../api/generated.ts'
import type { AnswerOf } from '../../../api/operations.ts'
import { localNumber } from '../../../i18n/local.ts'
import { confirmAction } from '../../../parts/confirm.tsx'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { FormDialog } from '../../../parts/form/form-dialog.tsx'
import type { FormSchema } from '../../../parts/form/form-fields.ts'
import { SchemaForm } from '../../../parts/form/schema-form.tsx'
import { LinkChoice } from '../../../parts/link-choice.tsx'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { addressOf } from '../../../parts/list/list-query.ts'
import { ListView } from '../../../parts/list/list-view.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { PageHead } from '../../../parts/page-head.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useChange, type Change } from '../../../parts/resource/use-change.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { Section } from '../../../parts/section.tsx'
import { EmptyState } from '../../../parts/states.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { Timeline } from '../../../parts/timeline.tsx'
import { localCommand } from '../commands/built-in.ts'
import { call, session } from '../platform.ts'
import { byUser, userLabel, userChoices } from '../user-names.ts'
import { pathOf, type ViewProps } from '../view.ts'
import { approvalText, rolesText, ruleText, ruleValueLabel } from './labels.ts'
import {
  approversOf,
  policyChanges,
  ruleOf,
  ruleFrom,
  withRule,
  type CommandRule,
  type PolicyChange,
  type PolicyView,
  type PolicyRule,
} from './model.ts'
import { commandRuleList, policyHistory, policyResource } from './source.ts'
import { commandPolicyWords } from './words.ts'

const PATH = pathOf('command-policy')
const VIEWS = ['rules', 'history'] as const

/** Who may run which command, and beside it the rule of the command that the address names; or who changed the rules. */
export function CommandPolicyPage({ id }: ViewProps) {
  const { title, about, views } = commandPolicyWords()
  const view = useLocation().query['view'] === 'history' ? 'history' : 'rules'
  const choices = VIEWS.map((choice) => ({
    title: views[choice],
    href: choice === 'history' ? `${PATH}?view=history` : PATH,
    isCurrent: choice === view,
  }))
  return (
    <>
      <PageHead title={title}>
        <LinkChoice label={views.label} choices={choices} />
      </PageHead>
      <p class="muted">{about}</p>
      {view === 'history' ? <PolicyHistory /> : <RuleList id={id} />}
    </>
  )
}

function RuleList({ id }: { readonly id: string | undefined }) {
  const words = commandPolicyWords()
  return (
    <ListView
      path={PATH}
      source={commandRuleList}
      words={words}
      columns={commandRuleColumns()}
      icon="policy"
      id={id}
      detail={({ id: commandId, item, onClose }) =>
        item ? (
          <CommandRuleDrawer key={commandId} command={item} onClose={onClose} />
        ) : (
          <Drawer title={commandId} onClose={onClose}>
            <EmptyState icon="policy" title={words.notListed} />
          </Drawer>
        )
      }
    />
  )
}

function commandRuleColumns(): readonly TableColumn<CommandRule>[] {
  const { fields, noRule, isMissing: isMissingText } = commandPolicyWords()
  const column = fieldColumns<CommandRule, typeof fields>(fields)
  return [
    column.cell('id', (rule) => {
      const { id, title, isMissing } = localCommand(rule)
      return (
        <>
          <bdi class="mono">{id}</bdi>
          {title !== null && title !== id && <bdi class="muted row-note">{title}</bdi>}
          {isMissing && <span class="muted">{` (${isMissingText})`}</span>}
        </>
      )
    }),
    column.cell('roles', ({ rule }) =>
      rule ? rolesText(rule.roles) : <span class="muted">{`${rolesText(['admin'])} (${noRule})`}</span>,
    ),
    column.cell('approvers', ({ rule }) => rolesText(approversOf(rule)), { isWideOnly: true }),
    column.cell('approval', ({ rule, approval }) => approvalText(rule, approval ?? undefined), {
      isWideOnly: true,
    }),
  ]
}

/** Who changed the policy, and how; newest first. */
function PolicyHistory() {
  const words = commandPolicyWords()
  const model = useResource(policyHistory, '')
  return (
    <ResourceView model={model}>
      {(page) => {
        const changes = policyChanges(page)
        return (
          <>
            <Timeline label={words.views.history} entries={changes.map(entryOf)} empty={words.noHistory} />
            {page.next_cursor !== null && <p class="muted">{words.older(localNumber(changes.length))}</p>}
          </>
        )
      }}
    </ResourceView>
  )
}

function entryOf({ revision, at, actor, changes }: PolicyChange) {
  const words = commandPolicyWords()
  const lines = changes.map(({ id, from, to }) => words.change(id, ruleText(from), ruleText(to)))
  return {
    key: String(revision),
    at,
    tone: 'active' as const,
    title: words.revision(localNumber(revision)),
    note: (
      <>
        <bdi>{byUser(actor)}</bdi>
        {(lines.length === 0 ? [words.sameRules] : lines).map((line) => (
          <div key={line}>
            <bdi>{line}</bdi>
          </div>
        ))}
      </>
    ),
  }
}

interface CommandRuleDrawerProps {
  readonly command: CommandRule
  readonly onClose: () => void
}

/** The rule of one command, and whom it allows to run the command. */
function CommandRuleDrawer({ command, onClose }: CommandRuleDrawerProps) {
  const { id, title } = localCommand(command)
  const words = commandPolicyWords()
  const model = useResource(policyResource, '')
  return (
    <ResourceDrawer id={id} model={model} titleOf={() => title ?? id} onClose={onClose}>
      {(policy) => (
        <>
          <RuleActions id={id} policy={policy} model={model} />
          <RuleFacts id={id} policy={policy} />
          {!policy.missing.includes(id) && <AccessCheck key={policy.revision} id={id} />}
          <p>
            <a href={addressOf(pathOf('executions'), { command_id: id })}>{words.executions}</a>
          </p>
        </>
      )}
    </ResourceDrawer>
  )
}

interface RuleFactsProps {
  readonly id: string
  readonly policy: PolicyView
}

function RuleFacts({ id, policy: { rules, commands } }: RuleFactsProps) {
  const { fields, hasNoRule } = commandPolicyWords()
  const rule = ruleOf(rules, id)
  const command = commands.find((candidate) => candidate.id === id)
  return (
    <FactList
      facts={[
        [fields.id, id],
        [fields.roles, rule ? rolesText(rule.roles) : hasNoRule],
        [fields.approvers, rolesText(approversOf(rule))],
        [fields.approval, approvalText(rule, command?.approval)],
      ]}
    />
  )
}

/** Says whether a user may run a command, and why. Only administrators choose the user by name. */
function AccessCheck({ id }: { readonly id: string }) {
  const words = commandPolicyWords()
  const explained = useSignal<AnswerOf<'explainCommandAccess'> | null>(null)
  const explain = async (body: { readonly user_id?: string }) => {
    const { user_id = '' } = body
    const result = await call('explainCommandAccess', { path: { id }, query: { user_id } })
    explained.value = result.ok ? result.value : null
    return result.ok ? null : result.failure
  }
  const isChoice = session.may('listUsers')
  const { user_id } = words.fields
  return (
    <Section title={words.access}>
      <SchemaForm
        schema={accessSchema(isChoice)}
        labels={{ user_id }}
        hints={isChoice ? {} : words.hints}
        labelOf={(_, value) => userLabel(value)}
        action={words.explain}
        send={explain}
      />
      <div role="status">{explained.value && <Explanation {...explained.value} />}</div>
    </Section>
  )
}

function accessSchema(isChoice: boolean): FormSchema {
  return {
    required: ['user_id'],
    properties: { user_id: isChoice ? { enum: userChoices() } : { type: 'string' } },
  }
}

function Explanation({ allowed, rule, user }: AnswerOf<'explainCommandAccess'>) {
  const words = commandPolicyWords()
  return (
    <>
      <StatusBadge tone={allowed ? 'good' : 'warning'} label={allowed ? words.allowed : words.notAllowed} />
      <p>{user.enabled ? words.because(rule, user.roles) : words.disabled}</p>
    </>
  )
}

interface RuleActionsProps {
  /** Id of the command. */
  readonly id: string
  readonly policy: PolicyView
  readonly model: ResourceModel<PolicyView>
}

/** Sets or removes the rule of a command. The other rules stay as they are in the current policy. */
function RuleActions({ id, policy, model }: RuleActionsProps) {
  const words = commandPolicyWords()
  const { rules, missing } = policy
  const rule = ruleOf(rules, id)
  const isMissing = missing.includes(id)
  const edited = useSignal<EditedRule | null>(null)
  const { apply, applyAndReport, conflict } = useChange(model)
  const close = () => (edited.value = null)
  const changeTo = (wanted: PolicyRule | null): Change<PolicyView> => ({
    async send(ifMatch) {
      const current = model.value.peek() ?? policy
      const result = await call('setCommandPolicy', {
        body: { rules: withRule(current, id, wanted) },
        ifMatch,
      })
      return result.ok ? { ...result, value: { ...current, ...result.value, missing: [] } } : result
    },
    done: words.saved,
    compare: (current) => [
      { name: id, yours: ruleText(wanted), theirs: ruleText(ruleOf(current.rules, id)) },
    ],
  })
  const remove = async () => {
    const { action, title, text } = words.remove
    const consequence = isMissing ? words.missing(missing.join(', ')) : text
    if (!(await confirmAction({ title: title(id), text: consequence, action, isDestructive: true }))) return
    await applyAndReport(changeTo(null))
  }
  const save = async (body: object) => {
    const { rule: before, etag } = edited.peek() ?? { rule, etag: model.etag }
    const fits = ({ rules: current }: PolicyView) => ruleText(ruleOf(current, id)) === ruleText(before)
    const failure = await apply({ ...changeTo(ruleFrom(body)), fits }, etag)
    if (!failure) close()
    return failure
  }
  if (!session.may('setCommandPolicy')) return null
  return (
    <ObjectActions
      actions={[
        !isMissing && {
          title: rule ? words.editRule : words.createRule,
          run: () => (edited.value = { rule, etag: model.etag }),
        },
        rule !== null && { title: words.remove.action, isDestructive: true, run: remove },
      ]}
    >
      {edited.value && <RuleDialog id={id} rule={edited.value.rule} send={save} onClose={close} />}
      {missing.length > 0 && <p class="hint">{words.missing(missing.join(', '))}</p>}
      {conflict}
    </ObjectActions>
  )
}

/** The rule as it was when its form was opened. */
interface EditedRule {
  readonly rule: PolicyRule | null
  readonly etag: string | null
}

// A rule without roles is possible: then nobody may run the command.
const RULE_SCHEMA = { ...BODIES.setCommandPolicy.properties.rules.additionalProperties, required: [] }

interface RuleDialogProps {
  readonly id: string
  readonly rule: PolicyRule | null
  readonly send: (body: object) => ReturnType<ReturnType<typeof useChange<PolicyView>>['apply']>
  readonly onClose: () => void
}

function RuleDialog({ id, rule, send, onClose }: RuleDialogProps) {
  const { fields, hints, createRule, editRule, save } = commandPolicyWords()
  const { roles, approvers, approval } = fields
  return (
    <FormDialog
      title={`${rule ? editRule : createRule}: ${id}`}
      schema={RULE_SCHEMA}
      labels={{ roles, approvers, approval }}
      hints={hints}
      labelOf={ruleValueLabel}
      unsetLabels={{ approval: commandPolicyWords().asCommand }}
      initial={{
        roles: (rule?.roles ?? ['admin']).join(','),
        approvers: approversOf(rule).join(','),
        approval: rule?.approval ?? '',
      }}
      action={save}
      send={send}
      onClose={onClose}
    />
  )
}
