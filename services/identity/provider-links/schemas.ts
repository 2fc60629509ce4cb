import { Enum } from '@tandem/http-kit'

export const ProviderName = Enum(['PROVIDER_A', 'PROVIDER_B'])
