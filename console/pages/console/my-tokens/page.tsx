import { PageHead } from '../../../parts/page-head.tsx'
import { session } from '../platform.ts'
import { pageTitle } from '../page-words.ts'
import { tokenWords } from '../users/token-words.ts'
import { TokenList } from '../users/tokens.tsx'

/** The programs that call the platform in the name of the reader. */
export function MyTokensPage() {
  const words = tokenWords()
  const bearer = session.bearer.value
  return (
    <>
      <PageHead title={pageTitle('my-tokens')} />
      <p class="muted">{words.mineHint}</p>
      {bearer && <TokenList user={{ ...bearer, enabled: true }} none={words.noneMine} isMain />}
    </>
  )
}
