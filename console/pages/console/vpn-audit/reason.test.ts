import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { language } from '../../../i18n/language.ts'
import { reasonText } from './reason.ts'

const nameOf = (id: string) => (id === 'u1' ? 'boris' : id)

const REASONS = [
  ['the token has expired', 'The token expired.', '令牌已过期。'],
  ['disconnected by an operator: u1', 'Disconnected by boris', '已被断开 （操作者：boris）'],
  [
    'The token is not valid. (3 more within a minute)',
    'The token is not valid. (3 more within a minute)',
    '令牌无效。 （一分钟内另有 3 次）',
  ],
  ['Invalid WebSocket frame', 'Invalid WebSocket frame', 'Invalid WebSocket frame'],
  ['toString', 'toString', 'toString'],
] as const

afterEach(() => {
  language.value = 'en'
})

for (const [reason, en, zh] of REASONS) {
  test(`"${reason}" is shown in the language of the reader`, () => {
    assert.equal(reasonText(reason, nameOf), en)
    language.value = 'zh'
    assert.equal(reasonText(reason, nameOf), zh)
  })
}
