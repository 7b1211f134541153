// The first code of the executable: it runs the program from its assets. The compiled code of each module is an asset too,
// where the architecture of the build is that of the executable.
const { getAsset, getAssetKeys, getRawAsset } = require('node:sea')
const { constants, Script } = require('node:vm')

const assets = new Set(getAssetKeys())
const modules = new Map()
let hasForeignCode = false

/** @param {string} id */
function load(id) {
  if (!id.startsWith('./')) return require(id)
  const loaded = modules.get(id)
  if (loaded) return loaded.exports
  const loading = { exports: {} }
  // Before it runs: modules may require each other.
  modules.set(id, loading)
  functionOf(id.slice('./'.length))(loading.exports, load, loading, __filename, __dirname)
  return loading.exports
}

/** @param {string} name */
function functionOf(name) {
  const cache = `${name}.cache`
  const script = new Script(getAsset(name, 'utf8'), {
    filename: name,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(assets.has(cache) && { cachedData: Buffer.from(getRawAsset(cache)) }),
  })
  hasForeignCode ||= script.cachedDataRejected === true
  return script.runInThisContext()
}

load('./main.cjs')
// Without its cache the program works, and starts in half as much time again: build the executable with its own runtime.
if (hasForeignCode) process.emitWarning('the compiled code in this executable belongs to another runtime')
