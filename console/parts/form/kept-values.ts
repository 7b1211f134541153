import { effect, signal } from '@preact/signals'
import { askBeforeUnload } from '../before-unload.ts'
import type { FormValues } from './form-fields.ts'

// The values are kept until the document is unloaded.
const kept = signal<ReadonlyMap<string, FormValues>>(new Map())

/** What a form has kept under this name. */
export function keptValues(name: string): FormValues | undefined {
  return kept.peek().get(name)
}

/** Whether a form has kept something. */
export function hasKeptValues(): boolean {
  return kept.peek().size > 0
}

/** Keeps the values of a form, or forgets them if there are none. */
export function keepValues(name: string, values: FormValues | null): void {
  const others = [...kept.peek()].filter(([other]) => other !== name)
  kept.value = new Map(values ? [...others, [name, values]] : others)
}

/** Forgets what forms have kept: it is not for the next user. */
export function forgetKeptValues(): void {
  kept.value = new Map()
}

effect(() => (kept.value.size > 0 ? askBeforeUnload() : undefined))
