// Loaded into Directus by `--import`: the native module that runs scripts of its users, who are none here, need not be
// built.
import { registerHooks } from 'node:module'

const EMPTY = new URL('./empty.cjs', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'isolated-vm'
      ? { url: EMPTY, format: 'commonjs', shortCircuit: true }
      : next(specifier, context),
})
