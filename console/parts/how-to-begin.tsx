import { CommandLine } from './command-line.tsx'

/** How the first item of a list comes about, and a command that creates one; `$URL` in it is the address of the API. */
export interface Beginning {
  readonly text: string
  readonly command?: string
}

/** Shown below the title of an empty list. */
export function HowToBegin({ text, command }: Beginning) {
  return (
    <>
      <p>{text}</p>
      {command && <CommandLine label={text} command={command.replaceAll('$URL', location.origin)} />}
    </>
  )
}
