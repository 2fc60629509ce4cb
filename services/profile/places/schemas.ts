import Type from 'typebox'

/**
 * The id of a country, region or city, an opaque string for clients. An invalid id is read as 0, which does not exist.
 */
export const PlaceId = Type.Unsafe<string>({ type: 'string', maxLength: 64, examples: ['102'] })

export const placeNumber = (id: string) => /^\d{1,9}$/.test(id) ? Number(id) : 0
