import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { openApiInfo } from './openapi.ts'

/** The page loads nothing from elsewhere and sends nothing elsewhere; its icons are part of its style sheet. */
const PAGE_POLICY = {
  'default-src': "'none'",
  'base-uri': "'none'",
  'connect-src': "'self'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
  'img-src': "'self' data:",
  'script-src': "'self'",
  'style-src': "'self'",
}

// The page shows this document alone, and follows the reader's choice of light or dark by itself.
const PAGE_STYLE = `
  .swagger-ui .topbar .link, .swagger-ui .topbar .download-url-wrapper { display: none }
  .swagger-ui .topbar-wrapper { justify-content: flex-end }
`

export const OPENAPI_DOCUMENT = { method: 'GET', path: '/openapi.json' } as const

/** The OpenAPI document of the routes added after this at `/openapi.json`, and a page to browse it at `/docs`. */
export async function describeRoutes(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: openApiInfo(version),
    refResolver: { buildLocalReference: ({ $id }) => $id as string },
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: PAGE_POLICY,
    theme: { title: 'Backend platform', css: [{ filename: 'page.css', content: PAGE_STYLE }] },
    uiConfig: { docExpansion: 'list', tryItOutEnabled: true },
  })
  app.get(OPENAPI_DOCUMENT.path, { schema: { hide: true } }, () => app.swagger())
}
