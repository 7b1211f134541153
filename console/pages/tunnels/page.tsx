import { useSignalEffect } from '@preact/signals'
import { SignInForm } from '../../parts/sign-in-form.tsx'
import { formatSome } from '../../parts/format.ts'
import { EmptyState, Loading } from '../../parts/states.tsx'
import { Empty } from './empty.tsx'
import { Forbidden } from './forbidden.tsx'
import { Header } from './header.tsx'
import type { PageProps } from './page-props.ts'
import { Picture } from './picture.tsx'
import { SessionTable } from './session-table.tsx'
import { Summary } from './summary.tsx'
import { Toolbar } from './toolbar.tsx'

export function TunnelsPage({ model, session }: PageProps) {
  useSignalEffect(() => {
    const state = model.state.value
    document.title = state ? `${formatSome(state.total, 'tunnel')} open` : 'Tunnels'
  })
  if (model.token.value === null) {
    return (
      <SignInForm
        title="Tunnels"
        purpose="Sign in to see who is connected through the gateways, and how well."
        notice={model.notice.value}
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
          The primary does not answer. Only the sessions of this standby are shown.
        </p>
      )}
      <Summary state={state} sessions={model.sessions.value} />
      {!isEmpty && <Toolbar model={model} />}
      <div class={isEmpty ? 'panes panes-one' : 'panes'}>
        <section class="card pane" aria-labelledby="picture-title">
          <div class="pane-head">
            <h2 id="picture-title" class="pane-title">
              Tunnel map
            </h2>
            {!isEmpty && <p class="hint">Select a node to see its sessions alone.</p>}
          </div>
          <Picture model={model} />
          {isEmpty && <Empty />}
        </section>
        {!isEmpty && <SessionTable model={model} />}
      </div>
    </>
  )
}
