/**
 * A port whose implementation is created later, because each of two parts needs the other. `find` runs at each call of a member;
 * a call before the creation fails with the name of the constant that it reads.
 */
export function late<T extends object>(find: () => T): T {
  return new Proxy({} as T, {
    get(_, name) {
      const port = find()
      const member: unknown = Reflect.get(port, name)
      return typeof member === 'function' ? member.bind(port) : member
    },
  })
}
