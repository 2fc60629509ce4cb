import Type from 'typebox'
import { named } from '@tandem/http-kit'
import { examplePicture, Picture } from '@tandem/media-kit'

export const examplePhoto = {
  ...examplePicture,
  id: '019aa1f0-0000-7000-8000-000000000001',
  isMain: true,
  sortOrder: 0
}

export const Photo = named(
  'Photo',
  Type.Object({
    ...Picture.properties,
    id: Type.String(),
    isMain: Type.Boolean(),
    sortOrder: Type.Integer()
  }, { examples: [examplePhoto] })
)

export const exampleCandidatePhoto = { ...examplePicture, isMain: true }

/** A photo as other people see it. */
export const CandidatePhoto = named(
  'CandidatePhoto',
  Type.Object({ ...Picture.properties, isMain: Type.Boolean() }, { examples: [exampleCandidatePhoto] })
)
