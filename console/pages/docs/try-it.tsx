import { useSignal, type Signal } from '@preact/signals'
import type { OpenApiDocument, Operation } from './document.ts'
import { buildRequest, exampleBody, missingParameters, toCurl } from './request.ts'

interface TryItProps {
  readonly api: OpenApiDocument
  readonly operation: Operation
  readonly token: Signal<string>
}

/** A form that sends the operation to this server and shows the response. */
export function TryIt({ api, operation, token }: TryItProps) {
  const parameters = useSignal<Readonly<Record<string, string>>>({})
  const body = useSignal(exampleBody(api, operation))
  const shown = useSignal('')
  const entries = () => ({ parameters: parameters.value, body: body.value, token: token.value })
  const send = async () => {
    const { path, init } = buildRequest(operation, entries())
    shown.value = '…'
    shown.value = await responseText(path, init)
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
        {shown.value}
      </pre>
    </form>
  )
}

/** The status and the body of the response; a JSON body is indented. */
async function responseText(path: string, init: RequestInit): Promise<string> {
  try {
    const response = await fetch(path, { ...init, cache: 'no-store' })
    return `${response.status}\n${indented(await response.text())}`
  } catch {
    return 'The server cannot be reached.'
  }
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
