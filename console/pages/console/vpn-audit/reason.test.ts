import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { language } from '../../../i18n/language.ts'
import { reasonText } from './reason.ts'

const nameOf = (id: string) => (id === 'u1' ? 'boris' : id)

const CAUSES = [
  [{ code: 'token_expired', values: {} }, 'The token expired.', '令牌已过期。'],
  [{ code: 'by_operator', values: { actor: 'u1' } }, 'Disconnected by boris', '已被断开 （操作者：boris）'],
  [
    { code: 'token_invalid', values: { repetitions: 3 } },
    'The token is not valid. (3 more within a minute)',
    '令牌无效。 （一分钟内另有 3 次）',
  ],
  [null, 'A sentence of no importance', 'A sentence of no importance'],
] as const

afterEach(() => {
  language.value = 'en'
})

for (const [cause, en, zh] of CAUSES) {
  test(`the words of ${cause?.code ?? 'an unknown reason'} hang on its code, in the language of the reader`, () => {
    const entry = { reason: 'A sentence of no importance', cause }
    assert.equal(reasonText(entry, nameOf), en)
    language.value = 'zh'
    assert.equal(reasonText(entry, nameOf), zh)
  })
}
