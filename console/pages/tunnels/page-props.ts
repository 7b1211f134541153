import type { SignInActions } from './follow.ts'
import type { TunnelsModel } from './model.ts'

/** What the parts of the page are given that do more than show. */
export interface PageProps {
  readonly model: TunnelsModel
  readonly session: SignInActions
}
