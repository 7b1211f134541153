import { useSignal, type Signal } from '@preact/signals'
import { keptToken } from '../../api/kept-token.ts'
import { cleanToken } from '../../api/token.ts'
import { Brand } from '../../parts/brand.tsx'
import { fieldsOf, jsonSchema, typeOf, type OpenApiDocument, type Operation, type Field } from './document.ts'
import { buildRequest, exampleBody, missingParameters, toCurl } from './request.ts'

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

interface OperationProps {
  readonly api: OpenApiDocument
  readonly operation: Operation
  readonly token: Signal<string>
}

function OperationCard({ api, operation, token }: OperationProps) {
  const { operationId, method, path, summary } = operation
  // The content is created when the card is opened: a page with all forms is slow on a phone.
  const isOpen = useSignal(location.hash === `#${operationId}`)
  return (
    <details
      class="card operation"
      id={operationId}
      open={isOpen.value}
      onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}
    >
      <summary>
        <span class={`method method-${method.toLowerCase()}`}>{method}</span>
        <code class="operation-path">{path}</code>
        <span class="muted">{summary}</span>
      </summary>
      {isOpen.value && <OperationBody api={api} operation={operation} token={token} />}
    </details>
  )
}

function OperationBody({ api, operation, token }: OperationProps) {
  const body = operation.requestBody && jsonSchema(operation.requestBody)
  return (
    <div class="operation-body">
      <Prose text={operation.description ?? ''} />
      <FieldTable title="Parameters" fields={parameterFields(operation)} />
      {body && <FieldTable title="Body" fields={fieldsOf(api, body)} />}
      <TryIt api={api} operation={operation} token={token} />
      <h3>Responses</h3>
      {Object.entries(operation.responses).map(([status, response]) => {
        const schema = jsonSchema(response)
        const isFailure = Number(status) >= 400
        return (
          <section key={status} class="response">
            <span class="response-status">{status}</span>
            <div>
              <Prose text={response.description} />
              {schema && !isFailure && <FieldTable title="Body" fields={fieldsOf(api, schema)} />}
            </div>
          </section>
        )
      })}
    </div>
  )
}

function parameterFields({ parameters = [] }: Operation): Field[] {
  return parameters.map(({ name, required, description, schema, in: place }) => ({
    path: name,
    required,
    schema: { ...schema, description: [`In the ${place}.`, description].filter(Boolean).join(' ') },
  }))
}

function FieldTable({ title, fields }: { readonly title: string; readonly fields: readonly Field[] }) {
  if (fields.length === 0) return null
  return (
    <>
      <h3>{title}</h3>
      <div class="fields">
        <table>
          <tbody>
            {fields.map(({ path, required, schema }) => (
              <tr key={path}>
                <th scope="row">
                  <code>{path}</code>
                  {required && <span class="muted"> required</span>}
                </th>
                <td>
                  <span class="muted">{typeOf(schema)}</span>
                  {schema.description && <Prose text={schema.description} />}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

interface TryItProps {
  readonly api: OpenApiDocument
  readonly operation: Operation
  readonly token: Signal<string>
}

/** A form that sends the operation to this server and shows the response. */
function TryIt({ api, operation, token }: TryItProps) {
  const parameters = useSignal<Readonly<Record<string, string>>>({})
  const body = useSignal(exampleBody(api, operation))
  const response = useSignal('')
  const entries = () => ({ parameters: parameters.value, body: body.value, token: token.value })
  const send = async () => {
    const { path, init } = buildRequest(operation, entries())
    response.value = '…'
    response.value = await responseText(path, init)
  }
  const missing = missingParameters(operation, entries())
  const label = missing.length > 0 ? `Enter ${missing.join(', ')}` : 'Send'
  return (
    <form
      class="try-it"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <h3>Try it</h3>
      {(operation.parameters ?? []).map(({ name }) => (
        <label key={name} class="try-it-field">
          <code>{name}</code>
          <input
            value={parameters.value[name] ?? ''}
            onInput={({ currentTarget }) =>
              (parameters.value = { ...parameters.value, [name]: currentTarget.value })
            }
          />
        </label>
      ))}
      {operation.requestBody && (
        <textarea
          aria-label="Body"
          class="mono"
          rows={8}
          spellcheck={false}
          value={body.value}
          onInput={({ currentTarget }) => (body.value = currentTarget.value)}
        />
      )}
      <pre class="mono">{toCurl(location.origin, buildRequest(operation, entries()))}</pre>
      <button type="submit" class="button button-main" disabled={missing.length > 0}>
        {label}
      </button>
      <pre class="mono" role="status">
        {response.value}
      </pre>
    </form>
  )
}

/** The status and the body of the response; a JSON body is indented. */
async function responseText(path: string, init: RequestInit): Promise<string> {
  try {
    const response = await fetch(path, { ...init, cache: 'no-store' })
    return `${response.status}\n${indentJson(await response.text())}`
  } catch {
    return 'The server cannot be reached.'
  }
}

function indentJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** A text of the document: paragraphs, with code in backticks. */
function Prose({ text }: { readonly text: string }) {
  return (
    <>
      {text.split('\n\n').map((paragraph) => (
        <p key={paragraph}>
          {paragraph
            .split('`')
            .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
        </p>
      ))}
    </>
  )
}
