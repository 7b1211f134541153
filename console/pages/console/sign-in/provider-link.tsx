import { hasProvider, providerAddress } from '../provider.ts'
import { signInPageWords } from './words.ts'

export interface ProviderLinkProps {
  /** Whether this page stays, and the provider is in another tab. */
  readonly isNewTab?: boolean
}

/** The way to sign in with the OpenID provider, if one is configured. */
export function ProviderLink({ isNewTab = false }: ProviderLinkProps) {
  if (!hasProvider()) return null
  return (
    <a
      class="button provider-link"
      href={providerAddress()}
      {...(isNewTab && { target: '_blank', rel: 'noopener' })}
    >
      {signInPageWords()[isNewTab ? 'withProviderElsewhere' : 'withProvider']}
    </a>
  )
}
