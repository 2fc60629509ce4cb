import Type from 'typebox'
import { Nullable, named } from '@tandem/http-kit'

/** A person in a list of people. */
export const Person = named(
  'UserWithFollow',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    username: Nullable(Type.String()),
    image: Nullable(Type.String()),
    isFollowing: Type.Boolean({ description: 'Whether the caller follows this person' })
  }, {
    examples: [{
      id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10',
      name: 'Ana',
      username: 'ana',
      image: null,
      isFollowing: true
    }]
  })
)
