import { render } from 'preact'
import { keptToken } from '../../api/kept-token.ts'
import { applyPreferences } from '../../parts/preferences.ts'
import { createTunnelsModel } from './model.ts'
import { followTunnels, type SignInActions } from './follow.ts'
import { TunnelsPage } from './page.tsx'

const root = document.getElementById('page')
if (!root) throw new Error('The page has no place to be drawn in.')

applyPreferences()
const model = createTunnelsModel(keptToken.read())
const session: SignInActions = followTunnels(model)
render(<TunnelsPage model={model} session={session} />, root)
