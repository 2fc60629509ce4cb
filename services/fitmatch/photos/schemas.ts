import Type from 'typebox'
import { named } from '@tandem/http-kit'

export const examplePhoto = {
  id: '019aa1f0-0000-7000-8000-000000000001',
  url: 'https://cdn.example/fitmatch/a/b.webp',
  isMain: true,
  sortOrder: 0
}

export const Photo = named(
  'Photo',
  Type.Object({
    id: Type.String(),
    url: Type.String(),
    isMain: Type.Boolean(),
    sortOrder: Type.Integer()
  }, { examples: [examplePhoto] })
)
