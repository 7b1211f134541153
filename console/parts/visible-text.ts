import { options, type ComponentChildren } from 'preact'

// Joiners stay in emoji and between the letters of these scripts, where readers see what they do.
const JOINED = String.raw`[\p{Extended_Pictographic}\p{EMod}\uFE0F\p{scx=Arab}\p{scx=Beng}\p{scx=Deva}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Taml}]`
// Control characters and those that only format (Unicode categories Cc, Cf, Zl and Zp), but not tabs, line breaks, and the
// isolates that the console itself puts around texts.
const HIDDEN = new RegExp(
  String.raw`(?<!${JOINED})[\u200C\u200D]|(?![\t\r\n\u200C\u200D\u2068\u2069])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]`,
  'gu',
)

/** A text of other people with a mark for each character that nobody sees, such as one that turns the direction of writing. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`
  })
}

/** Every text of other people is drawn in a `<bdi>`, so that this is the one place for all of them. */
export function markHiddenCharacters(): void {
  const next = options.vnode
  options.vnode = (vnode) => {
    const props: { children?: ComponentChildren } = vnode.props
    if (vnode.type === 'bdi') props.children = visibleChildren(props.children)
    next?.(vnode)
  }
}

function visibleChildren(children: ComponentChildren): ComponentChildren {
  if (Array.isArray(children)) return children.map(visibleChildren)
  return typeof children === 'string' ? visibleText(children) : children
}

// ECMA-48, section 5.4: control sequences, such as colours; the commands of terminals (OSC); other escapes.
// oxlint-disable-next-line no-control-regex -- they begin with the control character ESC
const ESCAPES = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[ -/]*[0-~])/g

/** What a program has written for a terminal, without colours and movements of the cursor. */
export function withoutEscapes(output: string): string {
  return output.replace(ESCAPES, '')
}
