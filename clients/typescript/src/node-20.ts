// What the VPN client uses of newer versions of Node.js; the build puts it in the place of the missing functions.

export function withResolvers<T>(): PromiseWithResolvers<T> {
  let resolve: (value: T | PromiseLike<T>) => void = () => undefined
  let reject: (reason?: unknown) => void = () => undefined
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}

export function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null
}
