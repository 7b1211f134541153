import { CommandLine } from './command-line.tsx'

/** How something gets there, and a command that makes it; `$URL` in it is the address of the API. */
export interface Beginning {
  readonly text: string
  readonly command?: string
}

/** Below what never had an item. */
export function HowToBegin({ text, command }: Beginning) {
  return (
    <>
      <p>{text}</p>
      {command && <CommandLine label={text} command={command.replaceAll('$URL', location.origin)} />}
    </>
  )
}
