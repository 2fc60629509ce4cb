import { Body, Enum, Text } from '@tandem/http-kit'
import { rejectionCodes } from '../tables.ts'

export const Rejection = Body({
  reason: Text({ max: 500, description: 'The person reads it' }),
  reasonCode: Enum(rejectionCodes, { default: 'OTHER' })
}, { examples: [{ reason: 'The face is covered', reasonCode: 'FACE_NOT_VISIBLE' }] })
