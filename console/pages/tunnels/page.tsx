import { useSignalEffect } from '@preact/signals'
import { useKeyboard } from '../../parts/actions/use-keyboard.ts'
import { SignInForm } from '../../parts/sign-in-form.tsx'
import { EmptyState, Loading } from '../../parts/states.tsx'
import { Empty } from './empty.tsx'
import { Forbidden } from './forbidden.tsx'
import { Header } from './header.tsx'
import type { PageProps } from './page-props.ts'
import { Picture } from './picture.tsx'
import { SessionTable } from './session-table.tsx'
import { Summary } from './summary.tsx'
import { Toolbar } from './toolbar.tsx'
import { tunnelWords } from './words.ts'

export function TunnelsPage({ model, session }: PageProps) {
  const words = tunnelWords()
  useKeyboard()
  useSignalEffect(() => {
    const { title, titleOf } = tunnelWords()
    const state = model.state.value
    document.title = state ? titleOf(state.total) : title
  })
  if (model.token.value === null) {
    return (
      <SignInForm
        title={words.title}
        purpose={words.purpose}
        notice={model.notice.value && words.notices[model.notice.value]}
        signIn={session.signIn}
        onToken={session.useToken}
      />
    )
  }
  return (
    <>
      <Header model={model} session={session} />
      <main class="content">
        <Content model={model} session={session} />
      </main>
    </>
  )
}

function Content({ model, session }: PageProps) {
  const words = tunnelWords()
  const news = model.news.value
  if (news?.kind === 'refused') return <Forbidden model={model} session={session} />
  const state = model.state.value
  if (!state) {
    return news?.kind === 'waiting' ? <EmptyState icon="broken" title={news.reason} /> : <Loading />
  }
  const isEmpty = state.total === 0
  return (
    <>
      {state.isPrimaryMissing && (
        <p class="notes" role="status">
          {words.primaryMissing}
        </p>
      )}
      <Summary state={state} sessions={model.sessions.value} />
      {!isEmpty && <Toolbar model={model} />}
      <div class={isEmpty ? 'panes panes-one' : 'panes'}>
        <section class="card pane" aria-labelledby="picture-title">
          <div class="pane-head">
            <h2 id="picture-title" class="pane-title">
              {words.map}
            </h2>
            {!isEmpty && <p class="hint">{words.mapHint}</p>}
          </div>
          <Picture model={model} />
          {isEmpty && <Empty />}
        </section>
        {!isEmpty && <SessionTable model={model} />}
      </div>
    </>
  )
}
