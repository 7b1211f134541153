import { useSignal } from '@preact/signals'
import { BODIES } from '../../../api/generated.ts'
import type { AnswerOf, BodyOf } from '../../../api/operations.ts'
import { localTime } from '../../../i18n/local.ts'
import { Button } from '../../../parts/button.tsx'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import { Section } from '../../../parts/section.tsx'
import { sendChange } from '../../../parts/send-change.ts'
import { ShownOnce } from '../../../parts/shown-once.tsx'
import { useAnswer } from '../../../parts/use-answer.ts'
import { call } from '../platform.ts'
import type { User } from './model.ts'
import { tokenWords } from './token-words.ts'
import { roleLabel } from './words.ts'

type Token = AnswerOf<'listApiTokens'>['items'][number]

// The most tokens that a user has.
const MOST_TOKENS = 100
const DAY_SECONDS = 86_400

type Owner = Pick<User, 'id' | 'enabled'> & { readonly roles: readonly string[] }

/** The API tokens of a user, in its drawer. */
export function UserTokens({ user }: { readonly user: User }) {
  const words = tokenWords()
  return (
    <Section title={words.title}>
      <TokenList user={user} none={words.none} />
    </Section>
  )
}

interface TokenListProps {
  readonly user: Owner
  /** The text that is shown if the user has no token. */
  readonly none: string
  /** Whether a new token is what the page is for. */
  readonly isMain?: boolean
}

/** The API tokens of a user, and the buttons that create and revoke one. */
export function TokenList({ user, none, isMain = false }: TokenListProps) {
  const words = tokenWords()
  const { answer, refresh } = useAnswer(
    () => call('listApiTokens', { path: { id: user.id }, query: { limit: MOST_TOKENS } }),
    [user.id, user.enabled],
  )
  const isCreating = useSignal(false)
  const text = useSignal<string | null>(null)
  return (
    <div class="page-section">
      {answer?.items.length === 0 && <p class="muted">{none}</p>}
      {answer && answer.items.length > 0 && (
        <ul aria-label={words.title}>
          {answer.items.map((token) => (
            <TokenRow key={token.id} user={user} token={token} onRevoked={() => void refresh()} />
          ))}
        </ul>
      )}
      {user.enabled && (
        <div class="actions">
          <Button kind={isMain ? 'main' : undefined} onClick={() => (isCreating.value = true)}>
            {words.create}
          </Button>
        </div>
      )}
      {isCreating.value && (
        <NewToken
          user={user}
          onClose={() => (isCreating.value = false)}
          onCreated={(created) => {
            isCreating.value = false
            text.value = created
            void refresh()
          }}
        />
      )}
      {text.value !== null && (
        <ShownOnce words={words.newToken} secret={text.value} onClose={() => (text.value = null)} />
      )}
    </div>
  )
}

interface TokenRowProps {
  readonly user: Owner
  readonly token: Token
  readonly onRevoked: () => void
}

function TokenRow({ user, token, onRevoked }: TokenRowProps) {
  const words = tokenWords()
  const { id, name, roles, expires_at, last_used_at, last_used_from } = token
  const revoke = () =>
    sendChange({
      words: { ...words.revoke, title: words.revoke.title(name), done: words.revoke.done(name) },
      isDestructive: true,
      send: () => call('revokeApiToken', { path: { id: user.id, token_id: id } }),
      onDone: onRevoked,
    })
  return (
    <li>
      <p>
        <strong>
          <bdi>{name}</bdi>
        </strong>{' '}
        · {roles.map(roleLabel).join(', ') || words.noRole}
      </p>
      <p class="hint">
        {words.until(localTime(expires_at))} ·{' '}
        {last_used_at === null ? words.neverUsed : words.used(localTime(last_used_at), last_used_from ?? '')}
      </p>
      <Button aria-label={words.revoke.title(name)} onClick={() => void revoke()}>
        {words.revoke.action}
      </Button>
    </li>
  )
}

interface NewTokenProps {
  readonly user: Owner
  readonly onCreated: (text: string) => void
  readonly onClose: () => void
}

/** People count days, the API seconds. */
function NewToken({ user, onCreated, onClose }: NewTokenProps) {
  const words = tokenWords()
  const { expires_in, ...others } = BODIES.createApiToken.properties
  const days = { type: 'integer', minimum: 1, maximum: expires_in.maximum / DAY_SECONDS }
  const roles = { ...others.roles, items: { type: 'string', enum: user.roles } }
  return (
    <CreateDialog
      title={words.create}
      schema={{ ...BODIES.createApiToken, properties: { ...others, roles, days } }}
      labels={words.fields}
      hints={words.hints}
      labelOf={(_, value) => roleLabel(value)}
      action={words.create}
      create={({ days: lifetime, ...body }: { days?: number }) => {
        const wanted = body as BodyOf<'createApiToken'>
        const limit = lifetime === undefined ? {} : { expires_in: lifetime * DAY_SECONDS }
        return call('createApiToken', { path: { id: user.id }, body: { ...wanted, ...limit } })
      }}
      doneOf={({ name }) => words.created(name)}
      onCreated={({ token }) => onCreated(token ?? '')}
      onClose={onClose}
    />
  )
}
