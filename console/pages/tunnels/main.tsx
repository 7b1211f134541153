import { render } from 'preact'
import { keptToken } from '../../api/kept-token.ts'
import { createTunnelsModel } from './model.ts'
import { followTunnels, type Session } from './follow.ts'
import { Page } from './page.tsx'

const root = document.getElementById('page')
if (!root) throw new Error('The page has no place to be drawn in.')

const model = createTunnelsModel(keptToken.read())
const session: Session = followTunnels(model)
render(<Page model={model} session={session} />, root)
