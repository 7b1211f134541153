import { useSignal, type Signal } from '@preact/signals'
import { cleanToken } from '../../api/token.ts'
import { keptToken } from '../../api/kept-token.ts'
import { Brand } from '../../parts/brand.tsx'
import type { OpenApiDocument, Operation } from './document.ts'
import { OperationCard } from './operation.tsx'
import { Prose } from './prose.tsx'

interface PageProps {
  readonly api: OpenApiDocument
  readonly operations: readonly Operation[]
}

export function DocsPage({ api, operations }: PageProps) {
  const token = useSignal(keptToken.read() ?? '')
  const byTag = [...Map.groupBy(operations, ({ tags }) => tags[0] ?? 'Other')]
  return (
    <div class="docs">
      <header class="docs-header">
        <Brand title={api.info.title} />
        <span class="muted">{api.info.version}</span>
        <a href="/openapi.json">openapi.json</a>
        <TokenField token={token} />
      </header>
      <nav class="docs-nav" aria-label="Operations">
        {byTag.map(([tag, members]) => (
          <section key={tag}>
            <h2>{tag}</h2>
            <ul>
              {members.map(({ operationId, summary }) => (
                <li key={operationId}>
                  <a href={`#${operationId}`}>{summary}</a>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </nav>
      <main class="docs-main">
        <Prose text={api.info.description} />
        {byTag.map(([tag, members]) => (
          <section key={tag}>
            <h2>{tag}</h2>
            {members.map((operation) => (
              <OperationCard key={operation.operationId} api={api} operation={operation} token={token} />
            ))}
          </section>
        ))}
      </main>
    </div>
  )
}

function TokenField({ token }: { readonly token: Signal<string> }) {
  const keep = (text: string) => {
    token.value = cleanToken(text)
    if (token.value) keptToken.write(token.value)
    else keptToken.clear()
  }
  return (
    <label class="docs-token">
      Token
      <input
        type="password"
        autocomplete="off"
        placeholder="access_token of POST /auth/login"
        value={token.value}
        onInput={({ currentTarget }) => keep(currentTarget.value)}
      />
    </label>
  )
}

/** Shown instead of the page if the document cannot be read. */
export function Failure({ reason }: { readonly reason: string }) {
  return (
    <main class="docs-main">
      <h1>The API cannot be shown</h1>
      <p>
        Reading <a href="/openapi.json">openapi.json</a> failed: {reason}. Reload this page to try again.
      </p>
    </main>
  )
}
