// Makes a script of a CommonJS module, and compiles it: node --hash-seed=1 compile.mjs MODULE SCRIPT CACHE
import { readFileSync, writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { constants, Script } from 'node:vm'

const [, , module = '', script = '', cache = ''] = process.argv

// The fixed seed makes two builds equal. The executable has a random one, which protects its tables from chosen keys;
// compiled code is accepted only if the flags of both processes are equal.
setFlagsFromString('--hash-seed=0')

const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(module, 'utf8')}\n})`
const compiled = new Script(source, {
  filename: 'platform',
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
})
writeFileSync(script, source)
writeFileSync(cache, compiled.createCachedData())
