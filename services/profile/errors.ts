import createError from '@fastify/error'

export const UsernameTaken = createError('USERNAME_TAKEN', 'This username is taken', 409)
export const PersonNotFound = createError('NOT_FOUND', 'There is no such person', 404)
export const CountryNotFound = createError('NOT_FOUND', 'There is no such country', 404)
export const RegionNotFound = createError('NOT_FOUND', 'There is no such region', 404)
export const PlacesLoading = createError(
  'SERVICE_UNAVAILABLE',
  'The places are still being loaded. Please try again shortly.',
  503
)
export const OptionNotFound = createError('NOT_FOUND', 'There is no such option', 404)
export const OptionExists = createError('OPTION_EXISTS', 'An option with this id already exists', 409)
