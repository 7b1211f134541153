// Makes a script of each CommonJS module, in its place, and compiles it into NAME.cache:
// node --hash-seed=1 compile.mjs MODULE …
import { readFileSync, writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { constants, Script } from 'node:vm'

// The fixed seed makes two builds equal. The executable has a random one, which protects its tables from chosen keys;
// compiled code is accepted only if the flags of both processes are equal.
setFlagsFromString('--hash-seed=0')

for (const name of process.argv.slice(2)) {
  const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(name, 'utf8')}\n})`
  const compiled = new Script(source, {
    filename: name,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  writeFileSync(name, source)
  writeFileSync(`${name}.cache`, compiled.createCachedData())
}
