import { useEffect, useMemo, useRef } from 'preact/hooks'
import { browserTiming, fetchHere } from '../../../api/browser.ts'
import { ExecutionOutput } from '../../../api/execution-output.ts'
import { toHttp } from '../../../api/operations.ts'
import { Section } from '../../../parts/section.tsx'
import { visibleText, withoutEscapes } from '../../../parts/visible-text.ts'
import { session } from '../platform.ts'
import { isOpen, type Execution } from './model.ts'
import { executionWords } from './words.ts'

export interface OutputProps {
  readonly execution: Execution
  /** The execution may have another state. */
  readonly onNews: () => void
}

/** What an execution writes, as it comes. */
export function Output({ execution: { id, status }, onNews }: OutputProps) {
  const words = executionWords()
  const output = useMemo(() => {
    const open = (place: string, signal: AbortSignal) => openStream(id, place, signal)
    return new ExecutionOutput({ open, wait: browserTiming.wait, onNews })
  }, [id])
  const token = session.token.value
  useEffect(() => {
    if (token === null) return undefined
    const stopped = new AbortController()
    void output.follow(stopped.signal)
    return () => stopped.abort()
  }, [output, token])
  const text = output.text.value
  return (
    <Section title={words.output}>
      {output.isCut.value && <p class="muted">{words.outputBegin}</p>}
      {text === '' ? (
        <p class="muted">{isOpen(status) ? words.waiting : words.noOutput}</p>
      ) : (
        <OutputText label={words.output} text={text} />
      )}
    </Section>
  )
}

async function openStream(id: string, place: string, signal: AbortSignal): Promise<Response> {
  const token = session.token.peek()
  const { target, init } = toHttp('followExecutionOutput', { path: { id } }, token)
  const headers = { ...init.headers, ...(place && { 'last-event-id': place }) }
  const response = await fetchHere(target, { ...init, headers, cache: 'no-store', signal })
  // Only this token is refused: it may have been renewed meanwhile.
  if (response.status === 401 && token !== null) session.refuse(token)
  return response
}

/** Its end stays in view. */
function OutputText({ label, text }: { readonly label: string; readonly text: string }) {
  const shown = useRef<HTMLPreElement>(null)
  useEffect(() => shown.current?.scrollTo({ top: shown.current.scrollHeight }), [text])
  return (
    <pre class="output" role="log" aria-label={label} tabIndex={0} ref={shown}>
      {visibleText(withoutEscapes(text))}
    </pre>
  )
}
