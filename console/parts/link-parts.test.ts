import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linkParts } from './link-parts.ts'

const linksIn = (text: string) =>
  linkParts(text)
    .filter(({ href }) => href !== null)
    .map(({ text: address }) => address)

test('the http and https addresses of a text are links, without the punctuation around them', () => {
  const texts = {
    'See https://a.example/b?c=d#e.': ['https://a.example/b?c=d#e'],
    '(http://a.example/x_(y)), and "https://b.example"': ['http://a.example/x_(y)', 'https://b.example'],
    '见 https://a.example/路径，谢谢。https://b.example！': ['https://a.example/路径', 'https://b.example'],
    '<https://a.example:8443>;HTTPS://B.EXAMPLE/': ['https://a.example:8443', 'HTTPS://B.EXAMPLE/'],
  }
  for (const [text, links] of Object.entries(texts)) assert.deepEqual(linksIn(text), links, text)
})

test('any other text stays text', () => {
  const texts = [
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://a.example',
    'www.a.example',
    'https://',
    'http://[',
    'https://bank.example@evil.example/',
    'https:/\u202E/gpj.exe',
  ]
  for (const text of texts) assert.deepEqual(linksIn(text), [], text)
})

test('the parts together are the text', () => {
  for (const text of ['', 'none', 'https://a.example', 'a https://a.example\nb https://u@c.example. '])
    assert.equal(
      linkParts(text)
        .map((part) => part.text)
        .join(''),
      text,
    )
})

test('a text that is made to be slow is not', () => {
  const long = `https://a.example/${').'.repeat(100_000)}x${'.'.repeat(100_000)}`
  assert.equal(linksIn(`${long}${')'.repeat(100_000)}`).length, 1)
})
