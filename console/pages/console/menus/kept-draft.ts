import { effect, signal } from '@preact/signals'
import { askBeforeUnload } from '../../../parts/before-unload.ts'
import { session } from '../platform.ts'
import type { MenuNodes } from './tree.ts'

/** A tree that is not saved yet, and the version from which it comes. */
export interface Draft {
  readonly base: MenuNodes
  readonly etag: string | null
  readonly nodes: MenuNodes
  /** The ids of the nodes that the user has moved; their siblings may have other positions, too. */
  readonly moved: ReadonlySet<string>
}

interface KeptDraft {
  readonly userId: string | undefined
  readonly draft: Draft
}

const kept = signal<KeptDraft | null>(null)

/** The draft of the user who is signed in; it is kept while other pages are open, until the document is left. */
export function keptDraft(): Draft | null {
  const { userId, draft = null } = kept.value ?? {}
  return userId === session.bearer.value?.id ? draft : null
}

export function keepDraft(draft: Draft | null): void {
  kept.value = draft && { userId: session.bearer.peek()?.id, draft }
}

effect(() => (keptDraft() === null ? undefined : askBeforeUnload()))
