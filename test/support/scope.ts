import type { TestContext } from 'node:test'

/** What a test opens: closed after it in reverse order, which `t.after` alone does not do. */
export function scopeOf(t: TestContext): AsyncDisposableStack {
  const scope = new AsyncDisposableStack()
  t.after(() => scope.disposeAsync())
  return scope
}
