import { Enum, named } from '@tandem/http-kit'

export const Gender = named('Gender', Enum(['MALE', 'FEMALE', 'OTHER']))
