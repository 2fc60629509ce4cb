import { completeDocument } from '@tandem/http-kit'
import { describeConnection } from '../realtime/document.ts'
import type { OpenapiDocument } from './join-documents.ts'
import { describeMeta } from './meta.ts'

/** The operations of the gateway itself. */
export const describeGateway = () =>
  completeDocument({ paths: { ...describeMeta(), ...describeConnection() } }) as OpenapiDocument
