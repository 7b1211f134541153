import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { describe, test } from 'node:test'
import { loadConfig } from '../../src/config/config.ts'

const ROOT = join(import.meta.dirname, '../..')
const DOCUMENTS = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT }).sort()
const SOURCES = globSync('{src,programs,bin,scripts,bench,test,console}/**/*.{ts,tsx,mjs}', { cwd: ROOT })
  .filter((file) => file !== relative(ROOT, import.meta.filename))
  .sort()

interface Link {
  readonly path: string
  readonly anchor: string
}

describe('the documents', () => {
  for (const document of DOCUMENTS) {
    test(`every link in ${document} has a target`, () => {
      const broken = linksIn(document).filter((link) => !hasTarget(link))
      assert.deepEqual(broken, [])
    })
  }

  test('every citation of docs/specification.md names one of its sections', () => {
    const sections = [...read('docs/specification.md').matchAll(/^###? (.*)$/gm)].map(([, name = '']) => name)
    const unknown = citations().filter(({ text }) => !sections.some((name) => text.startsWith(name)))
    assert.deepEqual(unknown, [])
  })

  for (const { source, text } of configurationExamples()) {
    test(`the configuration in ${source} is valid`, () => {
      assert.doesNotThrow(() => loadText(text))
    })
  }
})

/** What follows the name of the specification in comments. */
function citations(): { source: string; text: string }[] {
  return SOURCES.flatMap((source) =>
    [...read(source).matchAll(/docs\/specification\.md, (.{1,40})/g)].map(([, text = '']) => ({
      source,
      text,
    })),
  )
}

/** Links to files of the repository, with paths relative to its root. */
function linksIn(document: string): Link[] {
  const targets = [...withoutCode(read(document)).matchAll(/\]\(([^)\s]+)\)/g)].map(
    ([, target = '']) => target,
  )
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor = ''] = target.split('#')
      return { path: path === '' ? document : relative('.', join(dirname(document), path)), anchor }
    })
}

function hasTarget({ path, anchor }: Link): boolean {
  if (!statSync(join(ROOT, path), { throwIfNoEntry: false })) return false
  return anchor === '' || headingsIn(path).includes(anchor)
}

/** The anchors of a document's headings: lower case, without punctuation, hyphens for blanks. */
function headingsIn(document: string): string[] {
  return [...withoutCode(read(document)).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function withoutCode(text: string): string {
  return text.replace(/^```.*?^```$/gms, '')
}

function configurationExamples(): { source: string; text: string }[] {
  const inDocuments = DOCUMENTS.flatMap((document) =>
    [...read(document).matchAll(/^```toml\n(.*?)^```$/gms)].map(([, text = ''], index) => ({
      source: `${document} (${index + 1})`,
      text,
    })),
  )
  const files = globSync('deploy/**/*.toml', { cwd: ROOT }).map((file) => ({
    source: file,
    text: read(file),
  }))
  return [...inDocuments, ...files]
}

function loadText(text: string): void {
  const directory = mkdtempSync(join(tmpdir(), 'platform-documents-'))
  try {
    writeFileSync(join(directory, 'platform.toml'), text)
    loadConfig({ env: {}, cwd: directory })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}
