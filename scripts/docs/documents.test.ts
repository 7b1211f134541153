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

// `docs/specification.md, Orders` or `SECURITY.md, Passwords`: a page, and the heading of one of its sections.
const CITATION = /((?:docs\/[\w/-]+|[A-Z]+)\.md), (?=(\w.{0,80}))/g
// The name of a file of the repository in running text.
const FILE = /(?<![\w/.-])(?:bench|bin|console|deploy|docs|programs|scripts|src|test)\/[\w./-]+\.\w+/g
// These may name files that are gone, or files to be created.
const OTHER_FILES = /^(?:CHANGELOG\.md|docs\/decisions\/.*)$|NNNN/

interface Link {
  readonly path: string
  readonly anchor: string
}

interface Citation {
  readonly source: string
  readonly page: string
  readonly text: string
}

describe('the documents', () => {
  for (const document of DOCUMENTS) {
    test(`every link in ${document} has a target`, () => {
      const broken = linksIn(document).filter((link) => !hasTarget(link))
      assert.deepEqual(broken, [])
    })
  }

  test('every citation of a page names one of its sections', () => {
    const cited = [...SOURCES, ...DOCUMENTS].flatMap(citationsIn)
    assert.ok(cited.length > 100, 'the citations were not recognized')
    assert.deepEqual(
      cited.filter((citation) => !namesSection(citation)),
      [],
    )
  })

  test('every document that the code names exists', () => {
    const missing = SOURCES.flatMap((source) =>
      filesIn(source).filter((file) => file.endsWith('.md') && !isFile(file)),
    )
    assert.deepEqual(missing, [])
  })

  test('every file that a document names exists', () => {
    const missing = DOCUMENTS.filter((document) => !OTHER_FILES.test(document))
      .flatMap(filesIn)
      .filter((file) => !OTHER_FILES.test(file) && !isFile(file))
    assert.deepEqual(missing, [])
  })

  for (const { source, text } of configurationExamples()) {
    test(`the configuration in ${source} is valid`, () => {
      assert.doesNotThrow(() => loadText(text))
    })
  }
})

/** Each citation with the text that follows it. A comment may break it over two lines. */
function citationsIn(source: string): Citation[] {
  const text = read(source).replace(/\n\s*(?:\*|\/\/)? ?/g, ' ')
  return [...text.matchAll(CITATION)].map(([, page = '', rest = '']) => ({ source, page, text: rest }))
}

function namesSection({ page, text }: Citation): boolean {
  return isFile(page) && headingsIn(page).some((heading) => text.startsWith(heading))
}

function filesIn(source: string): string[] {
  return [...read(source).matchAll(FILE)].map(([file]) => file)
}

function isFile(path: string): boolean {
  return statSync(join(ROOT, path), { throwIfNoEntry: false })?.isFile() ?? false
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
  const isPlace = () => read(path).includes(`<a id="${anchor}"></a>`)
  return anchor === '' || headingsIn(path).map(anchorOf).includes(anchor) || isPlace()
}

function headingsIn(document: string): string[] {
  return [...withoutCode(read(document)).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading)
}

/** The anchor of a heading: lower case, without punctuation, hyphens for blanks. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
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
