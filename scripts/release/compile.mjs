// Makes a script of each CommonJS module of the program, in its place, and compiles it into NAME.cache:
// node --hash-seed=1 compile.mjs MODULE …
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { constants, Script } from 'node:vm'

// The fixed seed makes two builds equal. The executable has a random one, which protects its tables from chosen keys;
// compiled code is accepted only if the flags of both processes are equal.
setFlagsFromString('--hash-seed=0')

const require = createRequire(import.meta.url)
const names = process.argv.slice(2)
const scripts = new Map(names.map((name) => [name, scriptOf(name)]))
const modules = new Map()

/** @param {string} name */
function scriptOf(name) {
  const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(name, 'utf8')}\n})`
  writeFileSync(name, source)
  return new Script(source, {
    filename: name,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
}

/** @param {string} id */
function load(id) {
  if (!id.startsWith('./')) return require(id)
  const loaded = modules.get(id)
  if (loaded) return loaded.exports
  const loading = { exports: {} }
  modules.set(id, loading)
  const run = scripts.get(id.slice('./'.length))?.runInThisContext()
  run(loading.exports, load, loading, import.meta.filename, import.meta.dirname)
  return loading.exports
}

// V8 compiles a function when it is called. The compiled code has those that run when the modules are loaded and when the
// program reads its arguments, which every start does. No other function is called: what a server calls depends on time,
// so two builds would differ.
setFlagsFromString('--no-flush-bytecode')
process.argv = [process.execPath, 'platform', 'version']
for (const name of names) load(`./${name}`)

// The program ends the process.
process.on('exit', () => {
  setFlagsFromString('--flush-bytecode')
  for (const [name, script] of scripts) writeFileSync(`${name}.cache`, script.createCachedData())
})
