import { completeDocument } from '@tandem/http-kit'
import { realtimePaths } from '../realtime/document.ts'
import type { OpenapiDocument } from './join-documents.ts'
import { metaPaths } from './meta.ts'

/** The operations of the gateway itself. */
export const gatewayDocument = completeDocument({ paths: { ...metaPaths, ...realtimePaths } }) as OpenapiDocument
