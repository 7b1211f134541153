import lazy from 'preact-iso/lazy'
import { browserTiming } from '../../api/browser.ts'
import { pauseAfter } from '../../api/poll.ts'
import { CONSOLE_PATH, type ViewProps } from './view.ts'

type Component<Props> = (props: Props) => preact.VNode

/** A page that is loaded when it is opened, and as soon as the platform can be reached. */
export function lazyPage(load: () => Promise<Component<ViewProps>>): Component<ViewProps> {
  return lazyPart(load)
}

/** The same as `lazyPage`, for another part; `preload` loads the part before it is drawn. */
export function lazyPart<Props>(
  load: () => Promise<Component<Props>>,
): Component<Props> & { readonly preload: () => Promise<unknown> } {
  return lazy(() => loadUntilThere(load))
}

/** Loads a part of the console, and tries again until the platform can be reached; after an upgrade it loads the new console. */
export async function loadUntilThere<T>(load: () => Promise<T>): Promise<T> {
  let isAsked = false
  for (let failures = 1; ; failures++) {
    try {
      return await load()
    } catch {
      if (!isAsked && (await isReplaced())) {
        // Where something is typed and not sent, the browser asks, and the user may decline.
        isAsked = true
        location.reload()
      }
      await browserTiming.wait(pauseAfter(failures), NEVER)
    }
  }
}

/** Whether the platform serves another console than this one, whose other parts do not exist any more. */
async function isReplaced(): Promise<boolean> {
  const script = document.querySelector('script[type="module"]')?.getAttribute('src')
  try {
    const answer = await fetch(`${CONSOLE_PATH}/`, { cache: 'no-store' })
    return answer.ok && typeof script === 'string' && !(await answer.text()).includes(script)
  } catch {
    return false
  }
}

const NEVER = new AbortController().signal
