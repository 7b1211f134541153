import lazy from 'preact-iso/lazy'
import { browserTiming } from '../../api/browser.ts'
import { pauseAfter } from '../../api/poll.ts'
import type { ViewProps } from './view.ts'

type Component<Props> = (props: Props) => preact.VNode

/** A page that is loaded when it is opened, and as soon as the platform can be reached. */
export function lazyPage(load: () => Promise<Component<ViewProps>>): Component<ViewProps> {
  return lazyPart(load)
}

/** The same for another part; `preload` loads it before it is drawn. */
export function lazyPart<Props>(
  load: () => Promise<Component<Props>>,
): Component<Props> & { readonly preload: () => Promise<unknown> } {
  return lazy(() => loadUntilThere(load))
}

/** Repeats what loads a part of the console until the platform can be reached. */
export async function loadUntilThere<T>(load: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await load()
    } catch {
      await browserTiming.wait(pauseAfter(failures), NEVER)
    }
  }
}

const NEVER = new AbortController().signal
