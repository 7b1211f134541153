import { useSignal, type Signal } from '@preact/signals'
import { cleanToken, isToken } from '../api/token.ts'
import type { SignInResult } from '../api/sign-in.ts'
import { Brand } from './brand.tsx'

type Way = 'password' | 'token'

const WAYS: readonly { readonly way: Way; readonly label: string }[] = [
  { way: 'password', label: 'Name and password' },
  { way: 'token', label: 'Token' },
]

export interface SignInFormProps {
  readonly title: string
  readonly purpose: string
  /** Why the form is shown again; null on a first visit. */
  readonly notice: string | null
  readonly signIn: (username: string, password: string) => Promise<SignInResult>
  readonly onToken: (token: string) => void
}

/** Asks for a name and password, or for a token; neither is kept by the form. */
export function SignInForm({ title, purpose, notice, signIn, onToken }: SignInFormProps) {
  const way = useSignal<Way>('password')
  const problem = useSignal<string | null>(null)
  const busy = useSignal(false)

  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (!(event.currentTarget instanceof HTMLFormElement) || busy.value) return
    const form = new FormData(event.currentTarget)
    busy.value = true
    problem.value = null
    const result =
      way.value === 'token'
        ? acceptToken(textOf(form, 'token'))
        : await signIn(textOf(form, 'username'), textOf(form, 'password'))
    busy.value = false
    if (result.kind === 'signed_in') onToken(result.token)
    else problem.value = result.message
  }

  const message = problem.value ?? notice
  return (
    <main class="sign-in">
      <form
        class="sign-in-card card"
        onSubmit={(event) => void submit(event)}
        aria-labelledby="sign-in-purpose"
      >
        <Brand title={title} />
        <p id="sign-in-purpose" class="muted">
          {purpose}
        </p>
        <WayChoice way={way} onChange={() => (problem.value = null)} />
        <div class="notice" role="alert">
          {message && <p class="notice-text">{message}</p>}
        </div>
        {way.value === 'password' ? <PasswordFields /> : <TokenField />}
        <button class="button button-main" type="submit" aria-disabled={busy.value}>
          {busy.value ? 'Signing in …' : 'Sign in'}
        </button>
        <p class="hint">
          The token stays in this browser tab and is forgotten when you close it or sign out.
        </p>
      </form>
    </main>
  )
}

function WayChoice({ way, onChange }: { readonly way: Signal<Way>; readonly onChange: () => void }) {
  return (
    <fieldset class="segments">
      <legend class="visually-hidden">Sign in with</legend>
      {WAYS.map(({ way: value, label }) => (
        <label class="segment" key={value}>
          <input
            type="radio"
            name="way"
            value={value}
            checked={way.value === value}
            onChange={() => {
              way.value = value
              onChange()
            }}
          />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  )
}

function PasswordFields() {
  return (
    <>
      <label class="field">
        Name
        <input
          name="username"
          type="text"
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
          required
        />
      </label>
      <label class="field">
        Password
        <input name="password" type="password" autocomplete="current-password" required />
      </label>
    </>
  )
}

function TokenField() {
  return (
    <label class="field">
      Token
      <input
        name="token"
        type="password"
        autocomplete="off"
        spellcheck={false}
        required
        aria-describedby="token-hint"
      />
      <span id="token-hint" class="hint">
        From an administrator, or from <code>platform token issue</code>.
      </span>
    </label>
  )
}

function acceptToken(pasted: string): SignInResult {
  const token = cleanToken(pasted)
  if (isToken(token)) return { kind: 'signed_in', token }
  return { kind: 'refused', message: 'This is not a token: it has characters that no token has.' }
}

function textOf(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value : ''
}
