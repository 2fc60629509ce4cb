import { defineError } from '@tandem/process-kit'
export const UsernameTaken = defineError('USERNAME_TAKEN', 409)
export const PersonNotFound = defineError('NOT_FOUND.profilePerson', 404)
export const CountryNotFound = defineError('NOT_FOUND.country', 404)
export const RegionNotFound = defineError('NOT_FOUND.region', 404)
export const PlacesLoading = defineError('SERVICE_UNAVAILABLE.placesLoading', 503)
export const OptionNotFound = defineError('NOT_FOUND.option', 404)
export const OptionExists = defineError('OPTION_EXISTS', 409)
