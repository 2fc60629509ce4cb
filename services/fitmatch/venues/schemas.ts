import Type from 'typebox'
import { Nullable, named } from '@tandem/http-kit'

export const exampleVenue = {
  id: '019aa1f0-0000-7000-8000-000000000002',
  chainId: null,
  name: 'Gelora',
  branch: null,
  city: 'Jakarta',
  latitude: -6.2186,
  longitude: 106.8018,
  placeId: null,
  isCustom: true,
  sortOrder: 0
}

export const Venue = named(
  'Venue',
  Type.Object({
    id: Type.String(),
    chainId: Nullable(Type.String()),
    name: Type.String(),
    branch: Nullable(Type.String()),
    city: Nullable(Type.String()),
    latitude: Nullable(Type.Number()),
    longitude: Nullable(Type.Number()),
    placeId: Nullable(Type.String()),
    isCustom: Type.Boolean(),
    sortOrder: Type.Integer()
  }, { examples: [exampleVenue] })
)
