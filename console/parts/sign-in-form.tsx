import { useSignal, type Signal } from '@preact/signals'
import { cleanToken, isToken } from '../api/token.ts'
import type { ComponentChildren } from 'preact'
import type { SignInRefusal, SignInResult } from '../api/sign-in.ts'
import { language, LANGUAGE_NAMES, LANGUAGES, defineWords } from '../i18n/language.ts'
import { localNumber } from '../i18n/local.ts'
import { Brand } from './brand.tsx'
import { Button } from './button.tsx'
import { describeFailure } from './failure-words.ts'
import { chooseLanguage } from './preferences.ts'
import { topBarWords } from './top-bar-words.ts'

const signInWords = defineWords({
  signIn: ['Sign in', '登录'],
  signingIn: ['Signing in …', '正在登录……'],
  signInWith: ['Sign in with', '登录方式'],
  ways: { password: ['Name and password', '用户名和密码'], token: ['Token', '令牌'] },
  name: ['Name', '用户名'],
  password: ['Password', '密码'],
  tokenFrom: ['From an administrator, or from', '向管理员索取，或使用命令'],
  kept: [
    'You stay signed in in this tab until you close it, sign out, or the session ends: usually after an hour.',
    '登录状态只保存在此标签页中：关闭标签页、退出登录或会话到期（通常为一小时）后即失效。',
  ],
  wrongCredentials: [
    'Name or password is wrong, or the account is disabled.',
    '用户名或密码错误，或账户已停用。',
  ],
  notAToken: [
    'This is not a token: it has characters that no token has.',
    '这不是令牌：其中包含令牌不会有的字符。',
  ],
  throttled: [
    (seconds: string) => `Too many attempts. Try again in ${seconds} seconds.`,
    (seconds) => `尝试次数过多，请在 ${seconds} 秒后重试。`,
  ],
})

const WAYS = ['password', 'token'] as const
type Way = (typeof WAYS)[number]

export interface SignInFormProps {
  readonly title: string
  readonly purpose: string
  /** Why the form is shown again; null on a first visit. */
  readonly notice: string | null
  readonly signIn: (username: string, password: string) => Promise<SignInResult>
  readonly onToken: (token: string) => void
  /** Who has to sign in again, if that is known. */
  readonly username?: string
  /** Other ways to sign in. */
  readonly children?: ComponentChildren
}

/** The form alone on its page. */
export function SignInForm(props: SignInFormProps) {
  return (
    <main class="sign-in">
      <SignInCard {...props} />
    </main>
  )
}

/** Asks for a name and password, or for a token; neither is kept by the form. */
export function SignInCard({
  title,
  purpose,
  notice,
  signIn,
  onToken,
  username = '',
  children,
}: SignInFormProps) {
  const words = signInWords()
  const way = useSignal<Way>('password')
  const problem = useSignal<SignInRefusal | null>(null)
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
    else problem.value = result.refusal
  }

  const message = problem.value ? refusalText(problem.value) : notice
  return (
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
      {way.value === 'password' ? <PasswordFields username={username} /> : <TokenField />}
      <Button kind="main" type="submit" aria-disabled={busy.value}>
        {busy.value ? words.signingIn : words.signIn}
      </Button>
      <p class="hint">{words.kept}</p>
      {children}
      <LanguageChoice />
    </form>
  )
}

function WayChoice({ way, onChange }: { readonly way: Signal<Way>; readonly onChange: () => void }) {
  const words = signInWords()
  return (
    <fieldset class="segments">
      <legend class="visually-hidden">{words.signInWith}</legend>
      {WAYS.map((value) => (
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
          <span>{words.ways[value]}</span>
        </label>
      ))}
    </fieldset>
  )
}

function PasswordFields({ username }: { readonly username: string }) {
  const words = signInWords()
  return (
    <>
      <label class="field">
        {words.name}
        <input
          name="username"
          type="text"
          defaultValue={username}
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
          required
        />
      </label>
      <label class="field">
        {words.password}
        <input name="password" type="password" autocomplete="current-password" required />
      </label>
    </>
  )
}

function TokenField() {
  const words = signInWords()
  return (
    <label class="field">
      {words.ways.token}
      <input
        name="token"
        type="password"
        autocomplete="off"
        spellcheck={false}
        required
        aria-describedby="token-hint"
      />
      <span id="token-hint" class="hint">
        {words.tokenFrom} <code>platform token issue</code>
      </span>
    </label>
  )
}

function LanguageChoice() {
  return (
    <div class="language-choice" role="group" aria-label={topBarWords().language}>
      {LANGUAGES.map((known) => (
        <Button
          kind="quiet"
          key={known}
          aria-pressed={language.value === known}
          onClick={() => chooseLanguage(known)}
        >
          {LANGUAGE_NAMES[known]}
        </Button>
      ))}
    </div>
  )
}

function acceptToken(pasted: string): SignInResult {
  const token = cleanToken(pasted)
  if (isToken(token)) return { kind: 'signed_in', token }
  return { kind: 'refused', refusal: { code: 'not_a_token' } }
}

function refusalText(refusal: SignInRefusal): string {
  const words = signInWords()
  switch (refusal.code) {
    case 'wrong_credentials':
      return words.wrongCredentials
    case 'not_a_token':
      return words.notAToken
    case 'throttled':
      return words.throttled(localNumber(refusal.seconds))
    case 'other':
      return describeFailure(refusal.failure)
  }
}

function textOf(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value : ''
}
