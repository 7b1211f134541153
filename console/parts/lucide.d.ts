// The package has types for all icons together only; importing that module reads all 1,700 of them.
declare module 'lucide/dist/esm/icons/*.mjs' {
  const icon: readonly (readonly [tag: string, attributes: Readonly<Record<string, string>>])[]
  export default icon
}
