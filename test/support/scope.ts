import type { TestContext } from 'node:test'

/** The resources of a test, disposed after it in reverse order; the hooks of `t.after` run in the order of their calls. */
export function scopeOf(t: TestContext): AsyncDisposableStack {
  const scope = new AsyncDisposableStack()
  t.after(() => scope.disposeAsync())
  return scope
}
