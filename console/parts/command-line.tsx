import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Button } from './button.tsx'
import { partWords } from './part-words.ts'

export interface CommandLineProps {
  /** What the command is for. */
  readonly label: string
  readonly command: string
}

const SAID_MS = 3_000

/** A command for a terminal, with a button that copies it. */
export function CommandLine({ label, command }: CommandLineProps) {
  return (
    <div class="command-line">
      <pre class="mono" tabIndex={0} aria-label={label}>
        {command.split(' ').flatMap((word, at) => [at > 0 && ' ', <span key={at}>{word}</span>])}
      </pre>
      <CopyButton text={command} />
    </div>
  )
}

/** Copies a text; a browser gives pages the clipboard only over HTTPS, and on the host itself. */
export function CopyButton({ text }: { readonly text: string }) {
  const words = partWords()
  const isCopied = useSignal(false)
  useEffect(() => {
    if (!isCopied.value) return undefined
    const timer = setTimeout(() => (isCopied.value = false), SAID_MS)
    return () => clearTimeout(timer)
  }, [isCopied.value])
  if (!isSecureContext) return null
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    isCopied.value = true
  }
  return (
    <Button icon={isCopied.value ? 'good' : 'copy'} onClick={() => void copy()}>
      {isCopied.value ? words.copied : words.copy}
    </Button>
  )
}
